"""Going on after a syntax error: what it spoils is blanked out, no line moves."""

import re

_TABBED = re.compile(r"^( *)(\t[ \t]*)(?=\S)")
_NAME = re.compile(r"^(?:\"([^\"]+)\"|'([^']+)'|([^\s#'\"\[\]{},:-][^:#]*?))\s*:(?:\s|$)")


def untabbed(text: str) -> tuple[list[int], str]:
    """Lines whose indentation holds a tab, and the text with two blanks for each.

    Lines of a block of text (`|`, `>`) with a tab behind its own indentation are not among them:
    that tab belongs to the text.
    """
    found: list[int] = []
    lines = text.split("\n")
    block = -1
    for number, line in enumerate(lines, 1):
        indent = _indent(line)
        if block >= 0 and (not line.strip() or indent > block):
            continue
        block = indent if re.search(r"[:\-]\s+[|>][-+0-9]*\s*(#.*)?$", line) else -1
        match = _TABBED.match(line)
        if match and not line.lstrip().startswith("#"):
            found.append(number)
            rest = line[match.end() :]
            lines[number - 1] = match[1] + match[2].replace("\t", "  ") + rest
    return found, "\n".join(lines)


def blanked(text: str, first: int, last: int, *, again: bool = False) -> tuple[str, set[str]]:
    """The text without the section that holds a syntax error.

    Args:
        text: The whole text.
        first: Line where the broken construct begins, from 1.
        last: Line where it showed.
        again: Blanking out the first line's section did not help: take the last one's as well.

    Returns:
        The text with empty lines in place of the section, and its name.
    """
    lines = text.split("\n")
    first, last = min(first, len(lines)), min(last, len(lines))
    if first == last and not again and _stands_alone(lines, first - 1):
        lines[first - 1] = ""
        return "\n".join(lines), _name(lines[_head(lines, first - 1)])
    begin = _head(lines, first - 1)
    if again or not lines[begin].strip():
        begin = _head(lines, last - 1)
    end = begin + 1
    while end < len(lines) and not _NAME.match(lines[end]):
        end += 1
    names = set().union(*(_name(line) for line in lines[begin:end]))
    lines[begin:end] = [""] * (end - begin)
    if begin > 0 and not names and last - 1 not in range(begin, end):
        lines[last - 1] = ""
    return "\n".join(lines), names


def _stands_alone(lines: list[str], at: int) -> bool:
    """An indented line with nothing below it that belongs to it."""
    own = _indent(lines[at])
    below = next((line for line in lines[at + 1 :] if line.strip()), "")
    return own > 0 and not lines[at].lstrip().startswith("- ") and _indent(below) <= own


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _head(lines: list[str], at: int) -> int:
    """The line at or before one that begins a section; else the first that is not empty."""
    for index in range(at, -1, -1):
        if _NAME.match(lines[index]):
            return index
    return next((index for index in range(at + 1) if lines[index].strip()), at)


def _name(line: str) -> set[str]:
    match = _NAME.match(line)
    return {(match[1] or match[2] or match[3]).strip()} if match else set()
