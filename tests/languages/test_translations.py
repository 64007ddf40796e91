import os
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from nacre.languages import DOMAIN, FOLDER
from nacre.languages.translations import (
    compile_catalogues,
    compiled,
    mo_texts,
    po_texts,
    read_catalogue,
)

_HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n'
_FORMS = '"Plural-Forms: nplurals=2; plural=n != 1;\\n"\n\n'


def gettext_of(text: str) -> GNUTranslations:
    return GNUTranslations(BytesIO(compiled(po_texts(text))))


def texts_of(translations: GNUTranslations) -> dict[Any, str]:
    found = translations._catalog  # type: ignore[attr-defined]
    assert isinstance(found, dict)
    return {key: text for key, text in found.items() if key}


def test_the_texts_are_those_that_babel_reads():
    for path in FOLDER.glob(f"*/LC_MESSAGES/{DOMAIN}.po"):
        judged = BytesIO()
        with path.open("rb") as file:
            write_mo(judged, read_po(file))
        judged.seek(0)
        wanted, found = texts_of(GNUTranslations(judged)), texts_of(gettext_of(path.read_text()))
        assert found == wanted


def test_long_texts_plurals_and_contexts_are_read():
    texts = gettext_of(
        f'{_HEADER}{_FORMS}#: a.py\nmsgid ""\n"a \\"b\\"\\n"\n"\\\\n"\nmsgstr "甲\\t"\n"乙"\n\n'
        'msgid "job"\nmsgid_plural "jobs"\nmsgstr[0] "Job"\nmsgstr[1] "Jobs"\n\n'
        'msgctxt "verb"\nmsgid "set"\nmsgstr "设置"\n\nmsgid "set"\nmsgstr "一套"\n'
    )
    assert texts.gettext('a "b"\n\\n') == "甲\t乙"
    assert [texts.ngettext("job", "jobs", number) for number in (1, 2)] == ["Job", "Jobs"]
    assert (texts.pgettext("verb", "set"), texts.gettext("set")) == ("设置", "一套")


def test_what_is_not_translated_or_not_sure_stays_english():
    texts = gettext_of(
        f'{_HEADER}\nmsgid "a"\nmsgstr ""\n\n#, fuzzy\nmsgid "b"\nmsgstr "乙"\n\n#~ msgid "c"\n'
    )
    assert [texts.gettext(one) for one in "abc"] == ["a", "b", "c"]


@pytest.mark.parametrize("line", ["msgid a", '"a"', "<<<<<<< HEAD"])
def test_a_line_of_something_else_is_named(line: str):
    with pytest.raises(ValueError, match="line 1 is none"):
        po_texts(line)


def test_a_compiled_file_has_the_texts_of_its_source():
    texts = {"": "Content-Type: text/plain; charset=utf-8\n", "a.b": "甲 {x}", "one\0two": "一"}
    assert mo_texts(compiled(texts)) == texts


@pytest.mark.parametrize("data", [b"", b"\xde\x12\x04\x95", b"x" * 100, compiled({"a": "b"})[:40]])
def test_a_broken_compiled_file_is_refused(data: bytes):
    with pytest.raises(ValueError, match="not a compiled catalogue"):
        mo_texts(data)


def test_the_compiled_file_is_read_unless_the_source_is_newer(tmp_path: Path):
    folder = tmp_path / "zh_CN" / "LC_MESSAGES"
    assert read_catalogue(folder, "nacre") == {}
    folder.mkdir(parents=True)
    source = folder / "nacre.po"
    source.write_text('msgid "a.b"\nmsgstr "甲"\n')
    assert read_catalogue(folder, "nacre") == {"a.b": "甲"}
    (target,) = compile_catalogues(tmp_path)
    source.write_text('msgid "a.b"\nmsgstr "乙"\n')
    os.utime(source, ns=(0, 0))
    assert read_catalogue(folder, "nacre") == {"a.b": "甲"}
    os.utime(target, ns=(0, 0))
    os.utime(source, ns=(1, 1))
    assert read_catalogue(folder, "nacre") == {"a.b": "乙"}
    source.unlink()
    assert read_catalogue(folder, "nacre") == {"a.b": "甲"}
    assert sorted(path.name for path in folder.iterdir()) == ["nacre.mo"]
