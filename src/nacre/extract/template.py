"""Text templates that are filled with matches of expressions. They cannot run code."""

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
        for match in _PLACE.finditer(text):
            self._parts.append(text[end : match.start()])
            self._parts.append(_place(match, text))
            end = match.end()
        self._parts.append(text[end:])

    @property
    def places(self) -> dict[str, int]:
        """The names in the template, and the highest group used of each."""
        groups: dict[str, int] = {}
        for part in self._parts:
            if isinstance(part, tuple):
                groups[part[0]] = max(groups.get(part[0], 0), part[1])
        return groups

    def fill(self, matches: Mapping[str, Groups]) -> str:
        """Return the text with one match for each name."""
        return "".join(
            part if isinstance(part, str) else _fill(matches[part[0]], part[1], quoted=part[2])
            for part in self._parts
        )


def _place(match: re.Match[str], text: str) -> str | tuple[str, int, bool]:
    if match[0] == "$$":
        return "$"
    name = match[1] or match[4]
    if not name:
        raise ValueError(f"{text!r}: a dollar sign begins `${{name}}` or `${{name[1]}}`; or `$$`")
    return name, int(match[2] or 0), bool(match[3])


def _fill(groups: Groups, number: int, *, quoted: bool) -> str:
    value = groups[number] if number < len(groups) else ""
    return quote(value, safe="") if quoted else value


def combinations(
    template: LinkTemplate, matches: Mapping[str, Iterable[Groups]], limit: int
) -> Iterator[str]:
    """Yield the template with every combination of matches; none when a name has none.

    Args:
        template: The template.
        matches: The matches of each name.
        limit: Most results; also the most matches used of each name.
    """
    names = list(matches)
    lists = [list(islice(matches[name], limit)) for name in names]
    for chosen in islice(product(*lists), limit):
        yield template.fill(dict(zip(names, chosen, strict=True)))


def fill_groups(text: str, groups: Groups) -> str:
    r"""Return a replacement as Java writes it: `$1` is a group, `$0` all, `\` quotes a sign."""

    def value(match: re.Match[str]) -> str:
        if match[1]:
            return match[1]
        number = int(match[2] or match[3] or -1)
        return groups[number] if 0 <= number < len(groups) else ""

    return _GROUP.sub(value, text)
