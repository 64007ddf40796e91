"""The texts of the console in other languages: `python -m tools.catalogues` (`make catalogues`).

Collects the texts of sources, templates and reports, and brings each `nacre.po` up to date. The key
of a message is its code, with the English template as a comment; that of other texts is the English
text. The files are the same wherever this runs; `--check` writes nothing, and fails where something
would change or is not translated.
"""

import io
import sys
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from nacre.annotations import ANNOTATIONS
from nacre.console.routes import ROUTES
from nacre.core.status import STATUS_TABLE
from nacre.inspect.registry import all_reports
from nacre.languages import DOMAIN, FOLDER
from nacre.web.gate import SAFE
from nacre.web.languages import ENGLISH, LANGUAGES
from tools.editor_texts import editor_texts
from tools.message_texts import declared_messages
from tools.report_texts import report_texts

SOURCE = Path(__file__).parents[1] / "src" / "nacre"
METHODS = [
    ("console/**.py", "python"),
    ("web/languages.py", "python"),
    ("replay_server/**.py", "python"),
    ("**/templates/**.html", "jinja2"),
]
OPERATIONS = [("round_requests.py", "python")]
KEYWORDS = {"_": None, "gettext": None, "ngettext": (1, 2)}


def named_texts() -> Iterator[tuple[str, str]]:
    """Names of reports, and what requests of programs and those that are audited do, with files."""
    for report in all_reports():
        yield "inspect/registry.py", report.name
    for row in ROUTES:
        if row.is_api or row.verb not in SAFE:
            yield "console/routes.py", row.summary


@cache
def template() -> Catalog:
    """Return all texts, without translations."""
    catalogue = Catalog(project="Nacre", fuzzy=False)
    folders = (
        (SOURCE, METHODS),
        (SOURCE / "ops", OPERATIONS),
    )  # fmt: skip
    for folder, methods in folders:
        options = {pattern: {"trimmed": "true"} for pattern, _ in methods}
        texts = extract_from_dir(str(folder), methods, options, keywords=KEYWORDS)
        for name, _, text, comments, context in sorted(texts, key=str):
            place = (folder / name).relative_to(SOURCE).as_posix()
            catalogue.add(text, locations=[(place, 0)], auto_comments=comments, context=context)
    for place, words in report_texts():
        catalogue.add(words, locations=[(place, 0)])
    for facts in STATUS_TABLE.values():
        catalogue.add(facts.meaning.rstrip("."), locations=[("core/status.py", 0)])
    for annotation in ANNOTATIONS.values():
        catalogue.add(annotation.meaning, locations=[("annotations.py", 0)])
    for place, words in chain(editor_texts(), named_texts()):
        catalogue.add(words, locations=[(place, 0)])
    for declared in declared_messages():
        files = [(declared.place, 0)]
        catalogue.add(declared.code, locations=files, auto_comments=[declared.template])
    return catalogue


def updated(language: str, texts: Catalog) -> Catalog:
    """Return the catalogue of a language with all texts of today; translations stay."""
    path = FOLDER / language / "LC_MESSAGES" / f"{DOMAIN}.po"
    old = Catalog(locale=language)
    if path.is_file():
        with path.open("rb") as file:
            old = read_po(file, locale=language)
    catalogue = Catalog(locale=language, project="Nacre", fuzzy=False)
    for text in texts:
        if text.id:
            old_message = old.get(text.id)
            string = old_message.string if old_message is not None else None
            catalogue.add(
                text.id, string, locations=_files(text), context=text.context,
                auto_comments=text.auto_comments,
            )  # fmt: skip
    return catalogue


def _files(text: Message) -> list[tuple[str, int]]:
    return sorted({(name, 0) for name, _ in text.locations})


def text_of(catalogue: Catalog) -> bytes:
    """Return the file of a catalogue."""
    written = io.BytesIO()
    write_po(
        written, catalogue, width=100, omit_header=True, sort_output=True, include_lineno=False
    )
    header = (
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n'
        f'"Language: {catalogue.locale}\\n"\n"Plural-Forms: {catalogue.plural_forms}\\n"\n\n'
    )
    return header.encode() + written.getvalue()


def untranslated(catalogue: Catalog) -> list[str]:
    """Return the texts without a translation."""
    return [str(text.id) for text in catalogue if text.id and not _whole(text.string)]


def _whole(string: str | tuple[str, ...] | list[str] | None) -> bool:
    return bool(string) and (isinstance(string, str) or all(string or ()))


def main(*, check: bool) -> int:
    """Write the files, or check them; the number of problems."""
    texts, problems = template(), 0
    for language in LANGUAGES:
        if language == ENGLISH:
            continue
        folder = FOLDER / language / "LC_MESSAGES"
        catalogue = updated(language, texts)
        path, data = folder / f"{DOMAIN}.po", text_of(catalogue)
        if path.is_file() and path.read_bytes() == data:
            pass
        elif check:
            print(f"{path} is not up to date: `make catalogues`")
            problems += 1
        else:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for text in untranslated(catalogue):
            print(f"{language}: not translated: {text}")
            problems += check
    return problems


if __name__ == "__main__":
    sys.exit(min(main(check="--check" in sys.argv), 1))
