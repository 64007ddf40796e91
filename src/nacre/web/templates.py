"""The templates of a face over HTTP in a language: what escapes, and what shows a text.

Whatever comes from the web is text: templates escape it, and characters that control a terminal or
turn the direction of writing are shown by their numbers.
"""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from nacre.report.escape import printable
from nacre.web.languages import LANGUAGES, Language
from nacre.wire.urltext import readable_url


def visible(value: object) -> object:
    """Return a text with its control characters shown; other values as they are.

    Markup, as of texts of catalogues with names in them, stays markup.
    """
    return printable(value) if isinstance(value, str) else value


def page_templates(folder: Path, reader: Language) -> Environment:
    """Return the templates of a folder in a language, with the filters of all faces.

    `readable` is for URLs, `error` for messages, and `shown` for texts from outside within `trans`,
    which escapes but does not show what controls and turns.

    Args:
        folder: The folder.
        reader: The language.
    """
    templates = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    templates.filters.update(readable=readable_url, shown=visible, error=reader.text)
    templates.globals["languages"] = LANGUAGES
    # The extension adds this method, which the type of an environment does not have.
    install = templates.install_gettext_translations  # type: ignore[attr-defined]
    install(reader.texts, newstyle=True)
    return templates
