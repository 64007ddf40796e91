"""The text of `crawl.yaml`, read to a layer and written.

Every value is read with its line, and one reading makes as many findings as it can: what a syntax
error spoils is blanked out, no line moves, and the rest is read. `yaml_text` writes a new file;
`settings.amend` changes an existing document.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from nacre.config.layer import DEEPEST, Layer, SettingOrigin, Tree, is_too_deep, most_nodes
from nacre.errors import Problem
from nacre.messages import Message, message

_MOST_REPAIRS = 50
_MERGE = "tag:yaml.org,2002:merge"
_SAMPLE = "politeness: {delay: 2}"
_NO_COLON = message("config.yaml-no-colon", "a line without `: ` between its name and its value")
_FAULTS = {
    "mapping values are not allowed here": message(
        "config.yaml-second-colon",
        "a second `: ` in one line, or a line that is indented wrongly",
    ),
    "sequence entries are not allowed here": message(
        "config.yaml-list-item", "a list item (`- `) is not possible here"
    ),
    "found unexpected end of stream": message(
        "config.yaml-quotation-mark", "a quotation mark is missing"
    ),
    "could not find expected ':'": _NO_COLON,
}
"""Explanations of errors of the YAML library (ruamel.yaml), which has no codes for them."""


def read_yaml(text: str, file: str, *, source: str = "file") -> Layer:
    """Read settings in YAML, with their includes and their profile.

    Malformed parts become problems of the layer, with their lines. A section that cannot be read is
    left out, and the rest is read all the same, so that one missing bracket does not hide the other
    findings.
    """
    layer = read_values(text, file, source=source)
    includes = _includes(layer.tree, layer, file)
    return replace(layer, includes=includes, profile=_profile(layer.tree, layer, file))


def read_values(text: str, file: str, *, source: str = "file") -> Layer:
    """Read a mapping in YAML, whatever its keys mean; problems are as in `read_yaml`."""
    layer = Layer(source)
    node = _compose(text, file, layer)
    if node is None:
        return replace(layer, blank=not layer.problems)
    if not isinstance(node, MappingNode):
        line = node.start_mark.line + 1
        layer.problems.append(
            Problem(
                "",
                message("config.file-holds-no-settings", "the file holds no settings"),
                message("config.name-value-lines", "`name: value` lines"),
                _SAMPLE,
                file,
                line,
            )
        )
        return layer
    try:
        tree = _Reader(layer, file, most_nodes(text)).mapping(node, "")
    except _GrownError:
        grown = message(
            "config.aliases-expand", "aliases (`*`) expand to far more than the file contains"
        )
        expected = message("config.values-themselves", "the values themselves")
        layer.problems.append(Problem("", grown, expected, "", file))
        return layer
    return replace(layer, tree=tree)


def _compose(text: str, file: str, layer: Layer) -> Node | None:
    """Return the readable nodes; each syntax error is noted, and its section blanked out."""
    if is_too_deep(text):
        deep = message(
            "config.nested-too-often", "lists and mappings are nested more than {most} times",
            most=DEEPEST,
        )  # fmt: skip
        layer.problems.append(Problem("", _not_yaml(deep), file=file))
        return None
    yaml = YAML(typ="safe", pure=True)
    tabbed, text = find_tabs(text)
    barred, text = without_barred(text)
    layer.problems += [_barred_problem(line, sign, file) for line, sign in barred]
    layer.problems += [_tab_problem(line, file) for line in tabbed]
    last = ""
    for _ in range(_MOST_REPAIRS):
        try:
            return yaml.compose(text)  # type: ignore[no-any-return]  # untyped there
        except MarkedYAMLError as error:
            fault = _fault(error, text)
            usable, lost = blank_section(text, fault.begin, fault.line, again=text == last)
        except RecursionError:
            deep = message("config.nesting-too-deep", "it is nested too deep")
            layer.problems.append(Problem("", _not_yaml(deep), file=file))
            return None
        except (YAMLError, ValueError) as error:
            layer.problems.append(
                Problem(
                    "",
                    _not_yaml(error),
                    file=file,
                )
            )
            return None
        if fault.line not in tabbed:
            layer.problems.append(Problem("", _not_yaml(fault.text), file=file, line=fault.line))
        layer.lost |= lost
        last, text = text, usable
        yaml = YAML(typ="safe", pure=True)
    return None


def _barred_problem(line: int, sign: str, file: str) -> Problem:
    """Return the problem of a sign that YAML does not allow."""
    text = message(
        "config.sign-is-not-allowed",
        "not well-formed YAML: the sign U+{sign:04X} is not allowed",
        sign=ord(sign),
    )
    expected = message("config.printable-signs", "signs that can be printed")
    return Problem("", text, expected, "", file, line)


def _tab_problem(line: int, file: str) -> Problem:
    """Return the problem of a line that is indented with a tab."""
    text = message("config.line-is-indented-with-tab", "the line is indented with a tab")
    expected = message("config.blanks-two-step", "blanks, two a step")
    return Problem("", text, expected, "", file, line)


class _Fault(NamedTuple):
    """A syntax error: first line of its construct, the line to report, and the explanation."""

    begin: int
    line: int
    text: str


def _fault(error: MarkedYAMLError, text: str) -> _Fault:
    at = error.problem_mark or error.context_mark
    line = at.line + 1 if at else 1
    begin = min(error.context_mark.line + 1 if error.context_mark else line, line)
    problem, context = str(error.problem or ""), str(error.context or "")
    if "quoted" in context or "simple key" in context:
        line = begin
    if "cannot start any token" in problem:
        mark = problem.partition("'")[2].partition("'")[0]
        text = message(
            "config.yaml-value-start",
            "a value cannot begin with {mark}; put it into quotation marks",
            mark=mark,
        )
        return _Fault(begin, line, text)
    if problem == "mapping values are not allowed here":
        above = text.split("\n")[line - 2].strip() if line > 1 else ""
        if above and not re.search(r":(\s|$)|^(-|#)", above):
            return _Fault(line - 1, line - 1, _NO_COLON)
    if (bracket := _bracket_fault(problem, context, _Fault(begin, line, ""), text)) is not None:
        return bracket
    if problem.startswith("expected <block end>"):
        text = message(
            "config.yaml-indentation",
            "the line is not indented like those above that it belongs to",
        )
        return _Fault(begin, line, text)
    if problem.startswith("but found another document"):
        text = message(
            "config.yaml-second-document", "`---` begins a second document; a file holds one"
        )
        return _Fault(line, line, text)
    text = _FAULTS.get(problem) or " ".join(part for part in (context, problem) if part)
    return _Fault(begin, line, text)


def _bracket_fault(problem: str, context: str, at: _Fault, text: str) -> _Fault | None:
    """Return a bracket that is not closed, or was never opened; None for another fault."""
    if "flow" in context and problem.startswith("expected ','"):
        mark = problem.partition("or '")[2][:1]
        missing = message(
            "config.yaml-mark-missing",
            "a list or mapping is not closed: `{mark}` or a comma is missing",
            mark=mark,
        )
        return _Fault(at.begin, at.begin, missing)
    if "flow" in context and problem.endswith("end>'"):
        last = len(text.rstrip().split("\n"))
        missing = message(
            "config.yaml-bracket-missing",
            "a list or mapping is not closed: a bracket is missing",
        )
        return _Fault(last, last, missing)
    if problem.startswith("expected <block end>") and (match := _CLOSING.search(problem)):
        extra = message(
            "config.yaml-bracket-extra",
            "`{mark}` closes nothing: take it out, or open it before",
            mark=match[1],
        )
        return _Fault(at.line, at.line, extra)
    return None


def _not_yaml(reason: object) -> Message:
    return message("config.not-well-formed-yaml", "not well-formed YAML: {reason}", reason=reason)


class _GrownError(Exception):
    """The tree has more values than its text can hold."""


class _Reader:
    """Turns nodes into plain values, and notes the place of each path."""

    def __init__(self, layer: Layer, file: str, most: int) -> None:
        self._most = most
        self._layer = layer
        self._file = file
        self._constructor = YAML(typ="safe", pure=True).constructor
        self._above: set[int] = set()
        self._nodes = 0

    def mapping(self, node: MappingNode, path: str) -> Tree:
        """Return a mapping; of a key that occurs twice the last value counts, or both."""
        result: Tree = {}
        lines: dict[str, int] = {}
        for key, value in self._entries(node):
            name = str(self._scalar(key)) if isinstance(key, ScalarNode) else str(key.value)
            here = f"{path}.{name}" if path else name
            line = key.start_mark.line + 1
            if name in lines:
                again = message(
                    "config.second-time",
                    "is given a second time; first in line {line}",
                    line=lines[name],
                )
                self._note(here, again, line)
            lines[name] = line
            self._layer.places[here] = SettingOrigin(self._layer.source, self._file, line)
            child = self.value(value, here)
            before = result.get(name)
            if isinstance(child, dict) and isinstance(before, dict):
                child = {**before, **child}
            result[name] = child
        return result

    def _entries(self, node: MappingNode) -> Iterator[tuple[Node, Node]]:
        """Yield the pairs of a mapping, then those that `<<` merges for its missing keys."""
        own = {key.value for key, _ in node.value if isinstance(key, ScalarNode)}
        for key, value in node.value:
            if key.tag != _MERGE:
                yield key, value
                continue
            for merged in value.value if isinstance(value, SequenceNode) else [value]:
                if isinstance(merged, MappingNode) and merged is not node:
                    pairs = [pair for pair in merged.value if pair[0].value not in own]
                    own.update(key.value for key, _ in pairs)
                    yield from pairs

    def value(self, node: Node, path: str) -> Any:  # noqa: ANN401 - YAML
        """Any value, as text, number, truth value, list or mapping."""
        self._nodes += 1
        if self._nodes > self._most:
            raise _GrownError
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        if id(node) in self._above:
            circle = message("config.alias-circle", "an alias (`*`) that leads back to itself")
            self._note(path, circle, node.start_mark.line + 1)
            return None
        self._above.add(id(node))
        try:
            if isinstance(node, MappingNode):
                return self.mapping(node, path)
            return self._items(node, path) if isinstance(node, SequenceNode) else None
        finally:
            self._above.discard(id(node))

    def _items(self, node: SequenceNode, path: str) -> list[Any]:
        items = []
        for index, item in enumerate(node.value):
            here = f"{path}.{index}"
            line = item.start_mark.line + 1
            self._layer.places[here] = SettingOrigin(self._layer.source, self._file, line)
            items.append(self.value(item, here))
        return items

    def _scalar(self, node: ScalarNode) -> Any:  # noqa: ANN401 - YAML
        """Dates and whatever else is not a plain value stay the text that was written."""
        try:
            scalar = self._constructor.construct_object(node)
        except (YAMLError, ValueError):
            return node.value
        return (
            scalar if scalar is None or isinstance(scalar, bool | int | float | str) else node.value
        )

    def _note(self, path: str, text: str, line: int) -> None:
        problems = self._layer.problems
        problems.append(Problem(path, text, file=self._file, line=line))


def _includes(tree: Tree, layer: Layer, file: str) -> list[tuple[str, int]]:
    named = tree.pop("include", None) or []
    line = layer.places["include"].line if "include" in layer.places else 0
    if isinstance(named, str):
        return [(named, line)]
    if isinstance(named, list) and all(isinstance(name, str) for name in named):
        return [(name, layer.places[f"include.{i}"].line) for i, name in enumerate(named)]
    layer.problems.append(
        Problem(
            "include",
            message("config.is-not-list-of-files", "is not a list of files"),
            message("config.file-names", "file names"),
            "include: [site.yaml]",
            file,
            line,
        )
    )
    return []


def _profile(tree: Tree, layer: Layer, file: str) -> tuple[str, int]:
    named = tree.pop("profile", None)
    line = layer.places["profile"].line if "profile" in layer.places else 0
    if named is None or isinstance(named, str):
        return named or "", line
    layer.problems.append(
        Problem(
            "profile",
            message("config.is-not-name", "is not a name"),
            "",
            "profile: site",
            file,
            line,
        )
    )
    return "", line


_TABBED = re.compile(r"^( *)(\t[ \t]*)(?=\S)")
_NAME = re.compile(r"^(?:\"([^\"]+)\"|'([^']+)'|([^\s#'\"\[\]{},:-][^:#]*?))\s*:(?:\s|$)")


_BARRED = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CLOSING = re.compile(r"'([\]}])'$")


def without_barred(text: str) -> tuple[list[tuple[int, str]], str]:
    """Lines with characters that YAML does not allow, the first of each, and the text without them.

    Source: YAML 1.2.2, production `c-printable`.
    """
    if not _BARRED.search(text):
        return [], text
    lines = text.split("\n")
    matches = ((number, _BARRED.search(line)) for number, line in enumerate(lines, 1))
    barred = [(number, match[0]) for number, match in matches if match]
    return barred, _BARRED.sub(" ", text)


def find_tabs(text: str) -> tuple[list[int], str]:
    """Lines whose indentation holds a tab, and the text with two blanks for each.

    Lines of a block of text (`|`, `>`) with a tab after its own indentation are not among them:
    that tab belongs to the text.
    """
    numbers: list[int] = []
    lines = text.split("\n")
    block = -1
    for number, line in enumerate(lines, 1):
        indent = _indent(line)
        if block >= 0 and (not line.strip() or indent > block):
            continue
        block = indent if re.search(r"[:\-]\s+[|>][-+0-9]*\s*(#.*)?$", line) else -1
        match = _TABBED.match(line)
        if match and not line.lstrip().startswith("#"):
            numbers.append(number)
            after = line[match.end() :]
            lines[number - 1] = match[1] + match[2].replace("\t", "  ") + after
    return numbers, "\n".join(lines)


def blank_section(text: str, first: int, last: int, *, again: bool = False) -> tuple[str, set[str]]:
    """Return the text without the section that holds a syntax error.

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
    """A line with nothing below it that belongs to it, and that begins no section."""
    line = lines[at]
    if not line.strip("]} \t\r,"):
        return True
    if line.lstrip().startswith("- ") or _NAME.match(line):
        return False
    own = _indent(line)
    below = next((line for line in lines[at + 1 :] if line.strip()), "")
    return _indent(below) <= own


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _head(lines: list[str], at: int) -> int:
    """Return the line at or before a line that begins a section; else the first non-empty one."""
    for index in range(at, -1, -1):
        if _NAME.match(lines[index]):
            return index
    return next((index for index in range(at + 1) if lines[index].strip()), at)


def _name(line: str) -> set[str]:
    match = _NAME.match(line)
    return {(match[1] or match[2] or match[3]).strip()} if match else set()


def yaml_text(value: object) -> str:
    """YAML in the style of jobs: lists set in, lines as long as they are.

    Args:
        value: Mappings, lists and scalars; comments of ruamel.yaml's own types are kept.
    """
    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.width = 4096
    buffer = io.StringIO()
    yaml.dump(value, buffer)
    return buffer.getvalue()
