"""Scripts of plain statements: calls of beans with literal values (pure). Nothing is evaluated.

The scripts of Heritrix's wiki are mostly of this kind: a few calls of the frontier, the seeds, the
sheets or the controller. Such a script becomes a list of steps, which are carried out natively. A
script with anything else (a loop, a closure, a class) becomes none.
"""

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple

Literal = str | int | float | bool


class ScriptAction(Enum):
    """The action of a step; its values are those of `ScriptStep.values`."""

    DELETE = "delete URIs"
    RETIRE = "retire a queue"
    UNRETIRE = "bring a queue back"
    RECONSIDER = "reconsider retired queues"
    WAKE = "wake queues"
    COUNT = "count URIs"
    SEED = "add a line to the seeds"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    CHECKPOINT = "checkpoint"
    SET = "set a property of a bean"
    GET = "read a property of a bean"
    OVERLAY = "set a property in a sheet"
    ASSOCIATE = "associate a sheet"
    DISSOCIATE = "take a sheet off"
    DROP_SHEET = "delete a sheet"
    PRINT = "print"


class StepResult(NamedTuple):
    """A place of the output that the result of an earlier step fills."""

    step: int


class ScriptStep(NamedTuple):
    """One step of a script.

    Attributes:
        step: Its action.
        values: Its values: texts and numbers; for `PRINT`, also results of earlier steps.
    """

    step: ScriptAction
    values: tuple[Literal | StepResult, ...] = ()


class _Bean(NamedTuple):
    name: str


class _Queue(NamedTuple):
    key: str


_Value = Literal | StepResult | _Bean | _Queue | tuple[Literal | StepResult, ...]
_TOKEN: Final = re.compile(
    r"""(?P<skip>[ \t\r]+|//[^\n]*|/\*.*?\*/|import\s+[\w.*]+;?)"""
    r"""|(?P<end>[;\n]+)"""
    r"""|(?P<single>'(?:[^'\\\n]|\\.)*')|(?P<double>"(?:[^"\\\n]|\\.)*")"""
    r"""|(?P<slashy>(?<=[(,=~])\s?/(?:[^/\n\\]|\\.)+/)"""
    r"""|(?P<number>-?\d+(?:\.\d+)?[LlIidDfF]?\b)|(?P<name>[A-Za-z_]\w*)|(?P<sign>[][.(),=+~])""",
    re.DOTALL,
)
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_ESCAPES: Final = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"', "$": "$"}
_MOST: Final = 1_000
"""Tokens of a script."""
_NESTED: Final = 20
_DIGITS: Final = 40
"""Digits of a number: CPython refuses to read thousands of them."""
_LONGEST: Final = 100_000
"""Characters of a script, and of a text that it makes."""


class _UnknownError(Exception):
    """Something that is no plain statement."""


def read_statements(script: str) -> list[ScriptStep] | None:
    """Return the steps of a script; None if it is not made of plain statements alone.

    Args:
        script: The text; hostile.
    """
    if len(script) > _LONGEST:
        return None
    try:
        return _Reader(_tokens(script)).read()
    except _UnknownError:
        return None


def _tokens(script: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    place = 0
    while place < len(script):
        match = _TOKEN.match(script, place)
        if match is None or len(tokens) > _MOST:
            raise _UnknownError
        kind, place = str(match.lastgroup), match.end()
        if kind != "skip":
            tokens.append((kind, match[kind].strip() if kind != "end" else ";"))
    return [*tokens, ("end", ";")]


def _unescaped(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise _UnknownError
        return _ESCAPES[match[1]]

    return re.sub(r"\\(.)", plain, text, flags=re.DOTALL)


class _Reader:
    """Reads statements, one after another."""

    def __init__(self, tokens: Sequence[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0
        self._names: dict[str, _Value] = {}
        self._steps: list[ScriptStep] = []

    def read(self) -> list[ScriptStep]:
        """The steps of all statements; an error if there are none."""
        while self._place < len(self._tokens):
            if self._next("end"):
                continue
            self._statement()
            if not self._next("end"):
                raise _UnknownError
        if not self._steps:
            raise _UnknownError
        return self._steps

    def _statement(self) -> None:
        kind, text = self._tokens[self._place]
        if (kind, text) == ("name", "def"):
            self._place += 1
            kind, text = self._tokens[self._place]
        after = self._tokens[self._place + 1] if self._place + 1 < len(self._tokens) else ("", "")
        if kind == "name" and after == ("sign", "="):
            self._place += 2
            self._names[text] = self._expression()
            return
        self._expression(is_statement=True)

    def _next(self, kind: str, text: str = "") -> bool:
        """ScriptAction over a token, if it is the one that is named."""
        if self._place >= len(self._tokens):
            return False
        its, word = self._tokens[self._place]
        if its != kind or (text and word != text):
            return False
        self._place += 1
        return True

    def _expression(self, *, is_statement: bool = False) -> _Value:
        self._depth += 1
        if self._depth > _NESTED:
            raise _UnknownError
        value = self._chain(is_statement=is_statement)
        while not is_statement and self._next("sign", "+"):
            value = _bounded((*_parts(value), *_parts(self._chain(is_statement=False))))
        self._depth -= 1
        return value

    def _chain(self, *, is_statement: bool) -> _Value:
        self._next("sign", "~")
        kind, text = self._tokens[self._place]
        self._place += 1
        if kind in {"single", "double", "slashy", "number"}:
            return self._literal(kind, text)
        if kind != "name":
            raise _UnknownError
        if text in {"true", "false"}:
            return text == "true"
        names = [text]
        value: _Value | None = self._names.get(text)
        while self._next("sign", "."):
            kind, name = self._tokens[self._place]
            if kind != "name":
                raise _UnknownError
            self._place += 1
            value, names = self._member(value, names, name, is_statement=is_statement)
        if value is None:
            raise _UnknownError
        return value

    def _member(
        self, value: _Value | None, names: list[str], name: str, *, is_statement: bool
    ) -> tuple[_Value | None, list[str]]:
        """The value behind a dot: a call, a property, or part of a name so far."""
        if value == _Bean("scope") and name == "rules" and self._next("sign", "["):
            return _Bean(f"scope.rules[{self._index()}]"), []
        if self._next("sign", "("):
            return self._call(value, names, name, self._arguments()), []
        if names in (["rawOut"], ["htmlOut"]) and name in {"println", "print"}:
            return self._call(value, names, name, [self._expression()]), []
        if is_statement and isinstance(value, _Bean | _Queue) and self._next("sign", "="):
            return self._call(value, names, _setter(name), [self._expression()]), []
        if value is None:
            path = [*names, name]
            return (_Bean("crawlController"), []) if path == ["job", "crawlController"] else (
                None, path)  # fmt: skip
        return self._call(value, names, f"get{name[:1].upper()}{name[1:]}", []), []

    def _index(self) -> str:
        """The number of an element, up to the bracket behind it."""
        kind, text = self._tokens[self._place]
        self._place += 1
        if kind != "number" or not text.isdecimal() or not self._next("sign", "]"):
            raise _UnknownError
        return text

    def _arguments(self) -> list[_Value]:
        arguments: list[_Value] = []
        while not self._next("sign", ")"):
            arguments.append(self._expression())
            if not self._next("sign", ",") and self._tokens[self._place] != ("sign", ")"):
                raise _UnknownError
        return arguments

    def _literal(self, kind: str, text: str) -> _Value:
        if kind == "number":
            digits = text.rstrip("LlIidDfF")
            if len(digits) > _DIGITS:
                raise _UnknownError
            return float(digits) if "." in digits else int(digits)
        if kind == "slashy":
            return text[1:-1].replace("\\/", "/")
        if kind == "single":
            return _unescaped(text[1:-1])
        parts: list[Literal | StepResult] = []
        place = 1
        for match in _VARIABLE.finditer(text):
            if text[match.start() - 1] == "\\":
                continue
            parts.append(_unescaped(text[place : match.start()]))
            parts += _parts(self._names.get(match[1] or match[2]))
            place = match.end()
        rest = text[place:-1]
        if re.search(r"(?<!\\)\$\{", rest):
            raise _UnknownError
        return _bounded((*parts, _unescaped(rest))) if parts else _unescaped(rest)

    def _call(
        self, value: _Value | None, names: list[str], name: str, arguments: list[_Value]
    ) -> _Value:
        """The value of a call; its effect becomes a step."""
        if value is None:
            return self._named_call(".".join(names), name, arguments)
        if isinstance(value, _Queue):
            if name == "setRetired" and arguments in ([True], [False]):
                return self._add(
                    ScriptAction.RETIRE if arguments[0] else ScriptAction.UNRETIRE, value.key
                )
            raise _UnknownError
        if not isinstance(value, _Bean):
            raise _UnknownError
        if value.name == "crawlController" and not arguments and name in _PARTS:
            return _Bean(_PARTS[name])
        if value.name == "frontier" and name in {"getQueueFor", "getGroup"}:
            return _Queue(*_texts(arguments, 1))
        return self._bean_call(value.name, name, arguments)

    def _named_call(self, owner: str, name: str, arguments: list[_Value]) -> _Value:
        if owner == "appCtx" and name == "getBean":
            return _Bean(*_texts(arguments, 1))
        if owner == "job" and name == "getCrawlController" and not arguments:
            return _Bean("crawlController")
        if owner == "job" and name == "terminate" and not arguments:
            return self._add(ScriptAction.STOP)
        if owner in {"rawOut", "htmlOut"} and name in {"println", "print"} and len(arguments) < 2:
            parts = _parts(arguments[0]) if arguments else ()
            return self._add(ScriptAction.PRINT, *parts, "\n" if name == "println" else "")
        if owner.endswith("Pattern") and name == "compile":
            return _texts(arguments, 1)[0]
        raise _UnknownError

    def _bean_call(self, bean: str, name: str, arguments: list[_Value]) -> _Value:
        action = _CALLS.get((bean, name, len(arguments)))
        if action is not None:
            if action in {ScriptAction.OVERLAY, ScriptAction.SET}:
                return self._add(action, *_literals(arguments))
            return self._add(action, *_texts(arguments, len(arguments)))
        if bean == "frontier" and name in COUNTS and not arguments:
            return self._add(ScriptAction.COUNT, COUNTS[name])
        is_set = name.startswith("set") and len(arguments) == 1
        if not (is_set or (name.startswith("get") and not arguments)) or len(name) < 4:
            raise _UnknownError
        path = f"{bean}.{name[3:4].lower()}{name[4:]}"
        if is_set:
            return self._add(ScriptAction.SET, path, *_literals(arguments))
        return self._add(ScriptAction.GET, path)

    def _add(self, step: ScriptAction, *values: Literal | StepResult) -> StepResult:
        self._steps.append(ScriptStep(step, values))
        return StepResult(len(self._steps) - 1)


def _setter(name: str) -> str:
    return f"set{name[:1].upper()}{name[1:]}"


def _parts(value: _Value | None) -> tuple[Literal | StepResult, ...]:
    """The parts of a text that is printed."""
    if value is None or isinstance(value, _Bean | _Queue):
        raise _UnknownError
    if isinstance(value, StepResult) or not isinstance(value, tuple):
        return (value,)
    return value


def _bounded(parts: tuple[Literal | StepResult, ...]) -> tuple[Literal | StepResult, ...]:
    """The parts of a text, unless it is too long: a text that holds itself twice doubles."""
    size = sum(len(part) for part in parts if isinstance(part, str))
    if len(parts) > _MOST or size > _LONGEST:
        raise _UnknownError
    return parts


def _literals(arguments: Sequence[_Value]) -> tuple[Literal, ...]:
    if any(not isinstance(argument, str | int | float | bool) for argument in arguments):
        raise _UnknownError
    return tuple(
        argument for argument in arguments if isinstance(argument, str | int | float | bool)
    )


def _texts(arguments: Sequence[_Value], number: int) -> tuple[str, ...]:
    texts = tuple(argument for argument in arguments if isinstance(argument, str))
    if len(texts) != number or len(arguments) != number:
        raise _UnknownError
    return texts


_PARTS: Final[Mapping[str, str]] = {
    f"get{name[:1].upper()}{name[1:]}": name
    for name in (
        "frontier", "seeds", "scope", "sheetOverlaysManager", "statisticsTracker", "metadata",
        "loggerModule",
    )
}  # fmt: skip
COUNTS: Final[Mapping[str, str]] = {
    "queuedUriCount": "queued",
    "discoveredUriCount": "discovered",
    "finishedUriCount": "finished",
    "succeededFetchCount": "succeeded",
    "failedFetchCount": "failed",
    "disregardedUriCount": "disregarded",
}
"""Counts of Heritrix's frontier, and the names of the same numbers here."""
_CALLS: Final[Mapping[tuple[str, str, int], ScriptAction]] = {
    ("frontier", "deleteURIs", 1): ScriptAction.DELETE,
    ("frontier", "deleteURIs", 2): ScriptAction.DELETE,
    ("frontier", "reconsiderRetiredQueues", 0): ScriptAction.RECONSIDER,
    ("frontier", "forceWakeQueues", 0): ScriptAction.WAKE,
    ("frontier", "pause", 0): ScriptAction.PAUSE,
    ("frontier", "unpause", 0): ScriptAction.RESUME,
    ("frontier", "terminate", 0): ScriptAction.STOP,
    ("seeds", "seedLine", 1): ScriptAction.SEED,
    ("seeds", "nonseedLine", 1): ScriptAction.SEED,
    ("seeds", "addSeed", 1): ScriptAction.SEED,
    ("crawlController", "requestCrawlPause", 0): ScriptAction.PAUSE,
    ("crawlController", "requestCrawlResume", 0): ScriptAction.RESUME,
    ("crawlController", "requestCrawlStop", 0): ScriptAction.STOP,
    ("crawlController", "requestCrawlCheckpoint", 0): ScriptAction.CHECKPOINT,
    ("checkpointService", "requestCrawlCheckpoint", 0): ScriptAction.CHECKPOINT,
    ("sheetOverlaysManager", "putSheetOverlay", 3): ScriptAction.OVERLAY,
    ("sheetOverlaysManager", "addSurtAssociation", 2): ScriptAction.ASSOCIATE,
    ("sheetOverlaysManager", "removeSurtAssociation", 2): ScriptAction.DISSOCIATE,
    ("sheetOverlaysManager", "deleteSheet", 1): ScriptAction.DROP_SHEET,
}
"""Calls of beans, by bean, method and number of arguments."""
