"""The lines of crawl.log in words: status, way from the seed, annotations (pure)."""

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from nacre.annotations import ANNOTATIONS
from nacre.console.logs.lines import status_words
from nacre.core.crawluri import Hop
from nacre.report.log_fields import CrawlLogFields

Translate = Callable[[str], str]

_VALUES: Final = re.compile(r"NAME|KEY|CLASS|SCORE|N(?=t$|ms$|$)")
"""What stands for a value in the token of an annotation."""
_LONGEST: Final = 60
"""Hops that are told; the last ones of a longer way."""


def in_words(text: Translate, line: CrawlLogFields) -> str:
    """A line in words, for who looks at it.

    Args:
        text: Gives the text of a language for an English one.
        line: Its fields.
    """
    _ = text
    parts = [f"{line.status}{_(': ')}{status_words(text, line.status)}"]
    if line.path:
        way = " → ".join(_hops(text, line.path))
        parts.append(_("way from the seed: {way}").format(way=way))
    if not line.path:
        parts.append(_("a seed"))
    parts += [
        f"{one}{_(': ')}{meaning}"
        for one in line.annotations.split(",")
        if one and (meaning := annotation_words(text, one))
    ]
    stop = _(". ")
    return stop.join(part.rstrip(".。") for part in parts) + stop.rstrip()


def _hops(text: Translate, path: str) -> list[str]:
    """The hops of a way in words; a long way is written with their number before it: `12+LL`."""
    _ = text
    known = {
        Hop.LINK: _("link"), Hop.EMBED: _("embedded"), Hop.SPECULATIVE: _("guessed from a script"),
        Hop.REDIRECT: _("redirect"), Hop.PREREQUISITE: _("needed first"),
        Hop.INFERRED: _("inferred"), Hop.MANIFEST: _("from a sitemap or manifest"),
        Hop.SUBMIT: _("form"),
    }  # fmt: skip
    count, plus, last = path.rpartition("+")
    told = [known[Hop(hop)] if hop in set(Hop) else hop for hop in last[-_LONGEST:]]
    return [f"… ({count}+)", *told] if plus else told


def annotation_words(text: Translate, annotation: str) -> str:
    """The meaning of an annotation as it is written; "" for one that is not known."""
    found = next((said for token, said in _meanings() if token.fullmatch(annotation)), "")
    return text(found) if found else ""


@cache
def _meanings() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(_pattern(one.token)), one.meaning) for one in ANNOTATIONS.values())


def _pattern(token: str) -> str:
    """The expression of a token: its values are anything, a count is digits."""
    parts = _VALUES.split(token)
    values = [r"\d+" if value == "N" else ".+" for value in _VALUES.findall(token)]
    return "".join(
        re.escape(part) + value for part, value in zip(parts, [*values, ""], strict=True)
    )
