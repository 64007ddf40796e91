"""Secrets in the text of `crawl.yaml`: marks replace them for display, and are resolved on writing.

Each secret is replaced by `NOT-SHOWN-1` and so on, in the order of the text. Secrets are the
values of settings that are secret, names and passwords in URLs, private keys, and the text of a
comment or a broken line after such a name. Text that a user enters may refer to a secret, but not
contain one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, get_args

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from nacre.config.document import read_yaml
from nacre.config.facts import fields, type_at
from nacre.config.layer import is_too_deep
from nacre.config.registry import nearest
from nacre.config.secret import PRIVATE_KEY, Secret
from nacre.errors import ConfigError, Problem
from nacre.messages import message
from nacre.settings.settings import JobSettings

_PLAIN: Final = Problem(
    "",
    message("editing.secret-in-plain-text", "a secret in plain text"),
    message("editing.reference-env", "a reference: `{{env: NAME}}` or `{{file: PATH}}`"),
    "password: {env: SITE_PASSWORD}",
)  # fmt: skip
_MARK: Final = "NOT-SHOWN-{number}"
_MARKED: Final = re.compile(r"NOT-SHOWN-(\d{1,6})")
_LOGIN: Final = re.compile(r"(?<=://)[^\s/@'\"]+(?=@)")
_ADDRESS: Final = re.compile(r"(?:https?|socks5)://[^@\s]+", re.IGNORECASE)
_NAMES: Final = frozenset(("password", "proxy", "secret"))
_SPOKEN: Final = re.compile(
    r"(?:password|proxy|secret)[\"']?[ \t]*:[ \t]+(?![{&*|>#]|$)"
    r"(?P<value>[^\s#,}][^#\n]*?)(?=\s*(?:#|$|[}]))",
    re.IGNORECASE | re.MULTILINE,
)
_BLOCK: Final = re.compile(
    r"^(?P<in>[ \t]*)(?:- )?[\"']?(?:password|proxy|secret)[\"']?:[ \t]*(?P<value>[|>][^\n]*"
    r"(?:\n(?:(?P=in)[ \t]+[^\n]*|[ \t]*(?=\n)))*)",
    re.MULTILINE,
)
_ALIKE: Final = 0.8
"""How alike a misspelt name of a secret is to the right one, 0 to 1."""
_KNOWN: Final = frozenset(part for field in fields(JobSettings) for part in field.path.split("."))
"""Names of settings, which are not misspelt."""
_PROPERTIES: Final = re.compile(r"(?:[&!]\S*\s+)*")
_MOST: Final = 100_000


class _Span(NamedTuple):
    """A secret in a text: where it is, whether it is a value of a setting, and of which.

    The path of the setting is "" if it is not known.
    """

    start: int
    end: int
    is_value: bool
    path: str = ""


class ShownText(NamedTuple):
    """A text that can be shown.

    Attributes:
        text: The text, with a mark in place of each secret.
        secrets: What was there, in the order of the marks.
    """

    text: str
    secrets: tuple[str, ...]


@lru_cache(16)
def without_secrets(text: str) -> ShownText:
    """The text with marks in place of its secrets."""
    out: list[str] = []
    secrets: list[str] = []
    at = 0
    for span in _spans(text):
        secrets.append(text[span.start : span.end])
        out += (text[at : span.start], _MARK.format(number=len(secrets)))
        at = span.end
    return ShownText("".join((*out, text[at:])), tuple(secrets))


def with_secrets(text: str, saved: str) -> str:
    """The text of a request, with the secrets of the saved text in place of the marks.

    Args:
        text: The text.
        saved: The text that was shown to them, as it is saved.

    Raises:
        ConfigError: It has a new secret, a mark without a secret, or a mark that is
            elsewhere than where it was shown.
    """
    problems = plain_secrets(text)
    secrets = without_secrets(saved).secrets
    for match in _MARKED.finditer(text):
        if not 0 < int(match[1]) <= len(secrets):
            fault = message(
                "editing.no-such-secret",
                "{mark} stands for no secret of the saved file",
                mark=match[0],
            )
            problems.append(_problem(text, match.start(), fault))
    if problems:
        raise ConfigError(problems)
    restored = _MARKED.sub(lambda match: secrets[int(match[1]) - 1], text)
    if _MARKED.sub("?", without_secrets(restored).text) != _MARKED.sub("?", text):
        at = _MARKED.search(text)
        fault = message(
            "editing.secret-would-be-shown",
            "a hidden secret would be shown here: leave the lines with NOT-SHOWN as they were",
        )
        raise ConfigError([_problem(text, at.start() if at else 0, fault)])
    if moved := _moved_marks(text, saved):
        raise ConfigError(moved)
    return restored


def marks_in(text: str) -> frozenset[str]:
    """The marks that a text has, wherever they are."""
    return frozenset(match[0] for match in _MARKED.finditer(text))


def _moved_marks(text: str, saved: str) -> list[Problem]:
    """A problem for each mark that is not the unchanged value of the setting where it was shown.

    Aliases (`*`), merges (`<<`) and parts of other texts count: all that a mark becomes.
    """
    old, new = (_mark_places(version) for version in (without_secrets(saved).text, text))
    problems = []
    for mark, places in new.items():
        if elsewhere := places - old.get(mark, set()):
            path = min(elsewhere).path
            fault = message(
                "editing.secret-elsewhere",
                "{mark} may only stay where it was shown, as it was",
                mark=mark,
            )
            problems.append(_problem(text, text.find(mark), fault, path))
    return problems


class _MarkPlace(NamedTuple):
    """A value with a mark in it: the setting, with `*` for numbers of items, and the value."""

    path: str
    value: str


def _mark_places(text: str) -> dict[str, set[_MarkPlace]]:
    """The values that hold each mark, as a configuration means them."""
    layer = read_yaml(text, "")
    more = {"include": [name for name, _ in layer.includes], "profile": layer.profile[0]}
    places: dict[str, set[_MarkPlace]] = {}
    for path, value in _leaves({**layer.tree, **more}, (), keys=True):
        kind = ".".join("*" if part.isdigit() else part for part in path)
        for mark in _MARKED.finditer(value):
            places.setdefault(mark[0], set()).add(_MarkPlace(kind, value))
    return places


def plain_secrets(text: str) -> list[Problem]:
    """A problem for each secret that the text itself holds; marks are none."""
    return [
        _problem(text, span.start, _PLAIN.message, span.path)
        for span in _spans(text)
        if span.is_value and not _MARKED.fullmatch(text[span.start : span.end].strip("\"'"))
    ]


def plain_secrets_in(tree: object) -> list[Problem]:
    """A problem for each secret in settings that are no text yet, as those of a new job.

    Args:
        tree: The settings, nested as in `crawl.yaml`.
    """
    return [
        _PLAIN._replace(path=".".join(path))
        for path, value in _leaves(tree, ())
        if _LOGIN.search(value)
        or PRIVATE_KEY.search(value)
        or (is_secret(path, tree) and _hides(value))
    ]


def _leaves(
    tree: object, path: tuple[str, ...], *, keys: bool = False
) -> Iterator[tuple[tuple[str, ...], str]]:
    """The values of a tree as texts, with their paths; with `keys` those of mappings, too."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            if keys:
                yield path, str(key)
            yield from _leaves(value, (*path, str(key)), keys=keys)
    elif isinstance(tree, list | tuple):
        for number, value in enumerate(tree):
            yield from _leaves(value, (*path, str(number)), keys=keys)
    elif tree is not None:
        yield path, str(tree)


def _problem(text: str, at: int, fault: str, path: str = "") -> Problem:
    line = text.count("\n", 0, at) + 1
    return _PLAIN._replace(path=path, message=fault, file="crawl.yaml", line=line)


def _spans(text: str) -> list[_Span]:
    """The secrets of a text in their order; none is within another."""
    values = _values(text)
    matches = [*_SPOKEN.finditer(text), *_BLOCK.finditer(text)]
    spans = [
        *(values or ()),
        *(
            _Span(*item.span(), is_value=not _is_comment(text, item.start()))
            for pattern in (_LOGIN, PRIVATE_KEY)
            for item in pattern.finditer(text)
        ),
        *(
            _Span(*item.span("value"), is_value=False)
            for item in matches
            if values is None or _is_comment(text, item.start())
        ),
    ]
    disjoint: list[_Span] = []
    for span in sorted(spans, key=lambda item: (item.start, -item.end, not item.is_value)):
        if span.start >= (disjoint[-1].end if disjoint else 0) and _hides(
            text[span.start : span.end]
        ):
            disjoint.append(span)
    return disjoint


def _hides(text: str) -> bool:
    word = text.strip().strip("\"'")
    return bool(word) and word not in {"~", "null"} and not _ADDRESS.fullmatch(word)


def _is_comment(text: str, at: int) -> bool:
    """Whether a place is in a comment."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return re.search(r"(?:^|\s)#", line) is not None


def _values(text: str) -> list[_Span] | None:
    """The values of settings that are secret; None where the text cannot be read."""
    if is_too_deep(text):
        return None
    try:
        node = YAML(typ="safe", pure=True).compose(text)
    except (YAMLError, ValueError, RecursionError):
        return None
    tree = read_yaml(text, "").tree
    scalar_ids: set[int] = set()
    spans: list[_Span] = []
    for path, scalar in _scalars(node, (), set()):
        if id(scalar) in scalar_ids or not is_secret(path, tree):
            continue
        scalar_ids.add(id(scalar))
        start, end = scalar.start_mark.index, scalar.end_mark.index
        lead = _PROPERTIES.match(text, start, end)
        start = lead.end() if lead else start
        spans.append(
            _Span(start, start + len(text[start:end].rstrip()), is_value=True, path=".".join(path))
        )
    return spans


def _scalars(
    node: Node | None, path: tuple[str, ...], above: set[int]
) -> Iterator[tuple[tuple[str, ...], ScalarNode]]:
    if isinstance(node, ScalarNode):
        yield path, node
        return
    if node is None or id(node) in above or len(above) > _MOST:
        return
    above.add(id(node))
    if isinstance(node, MappingNode):
        for key, value in node.value:
            yield from _scalars(value, (*path, str(key.value)), above)
    elif isinstance(node, SequenceNode):
        for number, item in enumerate(node.value):
            yield from _scalars(item, (*path, str(number)), above)
    above.discard(id(node))


def is_secret(path: Sequence[str], tree: object) -> bool:
    """Whether the value of a path is secret.

    Args:
        path: The path.
        tree: Values as given; they have the rule of each list item. None if there are none.
    """
    if not path:
        return False
    last = path[-1].rpartition(".")[2].lower()
    if last in _NAMES or (last not in _KNOWN and nearest(last, _NAMES, cutoff=_ALIKE)):
        return True
    if path[0] == "sheets":  # sheets.NAME, and settings such as `identity.key`
        path, tree = [part for name in path[2:] for part in name.split(".")], None
    kind = type_at(JobSettings, path, tree)
    return kind is Secret or Secret in get_args(kind)
