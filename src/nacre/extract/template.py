"""Texts with places to be filled with what expressions matched. They cannot run anything."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from urllib.parse import quote

Groups = Sequence[str]

_PLACE = re.compile(r"\$\$|\$\{(\w+)(?:\[(\d{1,3})\])?(\|quote)?\}|\$(\w+)|\$")
_GROUP = re.compile(r"\\(.)|\$(\d)|\$\{(\d{1,3})\}|[$\\]")


class LinkTemplate:
    """`http://a/?x=${name[1]}&y=${other|quote}`: groups of matches by the names of expressions.

    `${name}` and `$name` are the whole match, `${name[1]}` its first group, `|quote` writes it as a
    part of a URL, and `$$` is a dollar sign.

    Args:
        text: The template.

    Raises:
        ValueError: A dollar sign that begins no place.
    """

    def __init__(self, text: str) -> None:
        self._parts: list[str | tuple[str, int, bool]] = []
        end = 0
        for found in _PLACE.finditer(text):
            self._parts.append(text[end : found.start()])
            self._parts.append(_place(found, text))
            end = found.end()
        self._parts.append(text[end:])

    @property
    def places(self) -> dict[str, int]:
        """The names that occur, and the highest group asked of each."""
        found: dict[str, int] = {}
        for part in self._parts:
            if isinstance(part, tuple):
                found[part[0]] = max(found.get(part[0], 0), part[1])
        return found

    def fill(self, matches: Mapping[str, Groups]) -> str:
        """The text with one match for each name."""
        return "".join(
            part if isinstance(part, str) else _filled(matches[part[0]], part[1], quoted=part[2])
            for part in self._parts
        )


def _place(found: re.Match[str], text: str) -> str | tuple[str, int, bool]:
    if found[0] == "$$":
        return "$"
    name = found[1] or found[4]
    if not name:
        raise ValueError(f"{text!r}: a dollar sign begins `${{name}}` or `${{name[1]}}`; or `$$`")
    return name, int(found[2] or 0), bool(found[3])


def _filled(groups: Groups, number: int, *, quoted: bool) -> str:
    value = groups[number] if number < len(groups) else ""
    return quote(value, safe="") if quoted else value


def combinations(
    template: LinkTemplate, matches: Mapping[str, Iterable[Groups]], limit: int
) -> Iterator[str]:
    """The template with every combination of matches; none when a name has none.

    Args:
        template: The template.
        matches: The matches of each name.
        limit: Most results; of each name no more matches are looked at.
    """
    names = list(matches)
    lists = [list(islice(matches[name], limit)) for name in names]
    for chosen in islice(product(*lists), limit):
        yield template.fill(dict(zip(names, chosen, strict=True)))


def fill_groups(text: str, groups: Groups) -> str:
    r"""A replacement as Java writes it: `$1` is a group, `$0` all, `\` quotes a sign."""

    def value(found: re.Match[str]) -> str:
        if found[1]:
            return found[1]
        number = int(found[2] or found[3] or -1)
        return groups[number] if 0 <= number < len(groups) else ""

    return _GROUP.sub(value, text)
