"""The text of an HTML page: its content, separated from parts that its site repeats."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nacre.extract.fulltext.job import PageText, TextJob, document_text
from nacre.extract.fulltext.main_part import split_text
from nacre.extract.fulltext.markup import MARK, readable
from nacre.extract.pageview import page_view
from nacre.wire.robots_tag import directives

if TYPE_CHECKING:
    from resiliparse.parse.html import HTMLTree

_DEEPEST = 2_000
"""Elements in one another up to which a page is taken as a tree: for more, time is quadratic."""
_METAS = 200


def html_text(job: TextJob, _kind: str) -> PageText:
    """Read a page."""
    from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415 - an extra
    from resiliparse.parse.html import HTMLTree  # noqa: PLC0415 - an extra

    text, readings = readable(document_text(job.document))
    if job.linear or _is_deep(text):
        return _in_linear_time(text, readings)
    tree = HTMLTree.parse(text)
    whole = extract_plain_text(tree, preserve_formatting=True, list_bullets=False)
    main = whole = whole.replace(MARK, "")
    boilerplate = ""
    if job.main:
        extracted = extract_plain_text(
            tree, preserve_formatting=True, main_content=True, list_bullets=False
        )
        main, boilerplate = split_text(whole, extracted.replace(MARK, ""))
    lang, robots = _title_and_robots(tree, job.agent)
    return PageText(
        title=(tree.title or "").replace(MARK, ""),
        text=main,
        rest="\n".join(filter(None, (boilerplate, *readings))),
        lang=lang,
        robots=robots,
    )


def _is_deep(text: str) -> bool:
    """Return whether elements may be nested deeper than the limit of a tree.

    It is an upper bound by the number of unclosed tags, which usual pages do not reach.
    """
    return text.count("<") - 2 * text.count("</") > _DEEPEST and _open_depth(text) > _DEEPEST


_VOID = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
        *("source", "track", "wbr", "p", "li", "dt", "dd", "tr", "td", "th", "option"),
    )
)
"""Elements without an end, and those whose end is left out while the next one closes them."""


def _open_depth(text: str) -> int:
    """Return the greatest nesting depth of tags, without implied elements."""
    from turbohtml import TokenType, tokenize  # noqa: PLC0415 - for pages with odd tags alone

    depth = deepest = 0
    for token in tokenize(text):
        if token.type is TokenType.START_TAG and token.tag not in _VOID:
            depth += 1
            deepest = max(deepest, depth)
        elif token.type is TokenType.END_TAG and depth and token.tag not in _VOID:
            depth -= 1
    return deepest


def _in_linear_time(text: str, readings: Sequence[str]) -> PageText:
    view = page_view(text.replace(MARK, ""))
    title = next((piece.text for piece in view.pieces if piece.kind == "title"), "")
    return PageText(title=title, text=view.text, rest="\n".join(readings))


def _title_and_robots(tree: "HTMLTree", agent: str) -> tuple[str, list[str]]:
    """The language that a page declares, and directives of its meta elements for everyone."""
    page = tree.document
    if page is None:
        return "", []
    root = page.query_selector("html")
    lang = (root.getattr("lang") or root.getattr("xml:lang") or "") if root is not None else ""
    robots: set[str] = set()
    names = {"robots", agent.lower()}
    for meta in page.query_selector_all("meta")[:_METAS]:
        name = (meta.getattr("name") or "").strip().lower()
        if name in names and name:
            robots |= directives(meta.getattr("content") or "")
        equiv = (meta.getattr("http-equiv") or "").strip().lower()
        if not lang and equiv == "content-language":
            lang = (meta.getattr("content") or "").partition(",")[0]
    return lang, sorted(robots)
