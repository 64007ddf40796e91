"""The pages of replay: their templates, languages and files.

Whatever comes from captures is text: templates escape it, and characters that control a terminal or
turn the direction of writing are shown by their numbers.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import Response

from nacre.replay_server.sites import quote_url
from nacre.web.languages import Language, language, named_language, preferred
from nacre.web.templates import page_templates

TEMPLATES: Final = Path(__file__).parent / "templates"
STATIC: Final = Path(__file__).parent / "static"
HTML: Final = "text/html; charset=utf-8"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_SHARED: Final = b"/* shared.js */"


class StaticFile(NamedTuple):
    """A file that pages load.

    Attributes:
        data: Its bytes.
        media: Its media type.
    """

    data: bytes
    media: str


@cache
def static_files() -> Mapping[str, StaticFile]:
    """Return the files of `static/` by name; `shared.js` replaces its name in a script."""
    shared = (STATIC / "shared.js").read_bytes()
    return {
        path.name: StaticFile(path.read_bytes().replace(_SHARED, shared), _TYPES[path.suffix])
        for path in sorted(STATIC.iterdir())
        if path.suffix in _TYPES
    }


def moment(timestamp: str) -> str:
    """Return 14 digits as people read them: `2026-11-29 18:50:00`; other texts as they are."""
    digits = timestamp
    if len(digits) != 14 or not digits.isdigit():
        return timestamp
    day = f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}"
    return f"{day} {digits[8:10]}:{digits[10:12]}:{digits[12:]}"


@cache
def environment(name: str) -> Environment:
    """Return the templates in a language.

    Args:
        name: A key of `LANGUAGES`, or the pseudo-locale.
    """
    templates = page_templates(TEMPLATES, language(name))
    templates.filters.update(moment=moment, path=quote_url)
    return templates


def language_of(request: Request) -> Language:
    """Return the language of a page: that of the query, else that of the browser."""
    chosen = named_language(request.query_params.get("lang", ""))
    return language(preferred(request.headers.get("accept-language", ""), chosen))


def page(request: Request, template: str, facts: Mapping[str, Any], status: int = 200) -> Response:
    """Return a page in the language of its reader.

    Args:
        request: The request.
        template: Name of the template.
        facts: What the template shows, by name.
        status: Status code.
    """
    reader = language_of(request)
    text = environment(reader.name).get_template(template).render({"language": reader, **facts})
    return Response(text.encode("utf-8", "backslashreplace"), status, media_type=HTML)
