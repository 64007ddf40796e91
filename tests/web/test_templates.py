"""Templates of a face: texts are escaped and shown, in the language of the reader."""

from pathlib import Path

import pytest
from jinja2 import UndefinedError

from nacre.web.languages import language
from nacre.web.templates import page_templates, visible


def _render(folder: Path, text: str, name: str = "en", **facts: object) -> str:
    (folder / "page.html").write_text(text, "utf-8")
    return page_templates(folder, language(name)).get_template("page.html").render(**facts)


def test_what_comes_from_outside_is_text(tmp_path: Path):
    shown = _render(tmp_path, "{{ value }}", value="<b>\x1b[1m\u202e")
    assert shown.startswith("&lt;b&gt;")
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert _render(tmp_path, "{{ url | readable }}", url="http://h.test/%E4%B9%A6").endswith("/书")


def test_values_that_are_no_texts_stay(tmp_path: Path):
    assert [visible(value) for value in (None, 1, ["\x1b"])] == [None, 1, ["\x1b"]]
    assert _render(tmp_path, "{{ 1 + number }}", number=1) == "2"


def test_texts_are_in_the_language_of_the_reader(tmp_path: Path):
    text = "{{ _('Captures') }} {{ languages | length > 1 }}"
    assert _render(tmp_path, text) == "Captures True"
    assert "Captures" not in _render(tmp_path, text, "zh_CN")


def test_a_name_that_is_missing_is_an_error(tmp_path: Path):
    with pytest.raises(UndefinedError):
        _render(tmp_path, "{{ nothing }}")
