"""Output of commands: text made safe, numbers for people, JSON for programs, errors.

Results go to stdout, all else to stderr. Text from the web is escaped before it reaches a terminal.
"""

import errno
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from shlex import quote
from typing import Any

from nacre.errors import ConfigError, NacreError, Problem

_UNSAFE = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
_TURNING = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_UNSAFE |= {code: f"\\u{code:04x}" for code in (*_TURNING, *range(0xD800, 0xE000))}


def safe(text: str) -> str:
    """A text from the web without what a terminal would obey or turn around."""
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_UNSAFE)


def safe_lines(text: str) -> str:
    """The same, but line feeds stay: for texts of several lines."""
    return "\n".join(safe(line) for line in text.split("\n"))


def say(text: str = "") -> None:
    """A line of the result."""
    print(safe_lines(text))


_json_wanted: ContextVar[bool] = ContextVar("json_wanted", default=False)


@contextmanager
def speaking_json(is_json: bool) -> Iterator[None]:
    """Print JSON Lines to stderr too while the block runs, with `--json`."""
    token = _json_wanted.set(is_json)
    try:
        yield
    finally:
        _json_wanted.reset(token)


def _tell_json(kind: str, text: str, **more: object) -> None:
    print(json_text({"type": kind, "text": text, **more}), file=sys.stderr, flush=True)


def tell(text: str) -> None:
    """A line for the operator, on stderr, with commands as they work here."""
    if _json_wanted.get():
        _tell_json("note", name_program(text.removeprefix("nacre: ")))
    else:
        print(safe_lines(name_program(text)), file=sys.stderr)


def json_text(data: object) -> str:
    """One line of JSON, ASCII only."""
    return json.dumps(data, separators=(",", ":"))


def say_json(data: object) -> None:
    """A result as JSON; indented on a terminal."""
    print(json.dumps(data, indent=2) if sys.stdout.isatty() else json_text(data))


def say_json_items(items: Iterable[object]) -> None:
    """Print a list as JSON, an item at a time, each on its own line."""
    start = "["
    for item in items:
        sys.stdout.write(f"{start}{json_text(item)}")
        start = ",\n"
    sys.stdout.write("[]\n" if start == "[" else "]\n")


_DENIED = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))


def is_denied(error: NacreError) -> bool:
    """Whether the operator lacks a permission, which is not a fault of a disk."""
    return getattr(error, "errno", 0) in _DENIED


def complain(error: NacreError, code: int = 2) -> None:
    """An error, or all problems of a configuration and their number; `code`: the exit code."""
    if _json_wanted.get():
        problems = error.problems if isinstance(error, ConfigError) else ()
        listed = [problem._asdict() for problem in problems]
        _tell_json("error", to_copy(str(error)), problems=listed, exit_code=code)
        return
    if not isinstance(error, ConfigError):
        tell(f"nacre: {to_copy(str(error))}")
        return
    help_before = ("", "")
    for problem in _fewer(error.problems):
        hint = (problem.expected, problem.sample)
        once = problem._replace(expected="", sample="") if hint == help_before else problem
        tell(f"nacre: {to_copy(str(once))}")
        help_before = hint
    if len(error.problems) > 1:
        tell(f"nacre: {len(error.problems)} problems")


_LINES_OF_A_FILE = 20
"""Bad lines of one list that are printed: more are mostly a file of another kind."""


def _fewer(problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield all problems of settings, and the first problems of each list of lines."""
    lines_by_file: Counter[str] = Counter()
    for problem in problems:
        is_line = bool(problem.line and not problem.path)
        lines_by_file[problem.file] += is_line
        if not is_line or lines_by_file[problem.file] <= _LINES_OF_A_FILE:
            yield problem
    for file, number in lines_by_file.items():
        if number > _LINES_OF_A_FILE:
            yield Problem("", f"and {count(number - _LINES_OF_A_FILE, 'more line')}", file=file)


def warn(warnings: Sequence[object]) -> None:
    """Findings that keep nothing from starting."""
    for warning in warnings:
        if _json_wanted.get():
            more = warning._asdict() if isinstance(warning, Problem) else {}
            _tell_json("warning", to_copy(str(warning)), **more)
        else:
            tell(f"nacre: warning: {to_copy(str(warning))}")


_COMMAND = re.compile(r"`nacre [^`]*`")
_JOB = re.compile(r"\bJOB\b")


def to_copy(text: str, job: Path | None = None) -> str:
    """Commands and paths of a message as they work here: `./nacre` in a clone, short paths.

    Args:
        text: The message.
        job: The job that `JOB` in its commands stands for; None for none.
    """
    if job is not None:
        name = typed(job)
        text = _COMMAND.sub(lambda command: _JOB.sub(lambda _: name, command[0]), text)
    return name_program(text).replace(f"{Path.cwd()}{os.sep}", "")


def name_program(text: str) -> str:
    """Return a text whose commands begin with the name by which this program was called."""
    return text.replace("`nacre ", f"`{program()} ")


def count(number: int, singular: str, many: str = "") -> str:
    """`1 page`, `1,234 pages`."""
    return f"{number:,} {singular if number == 1 else many or singular + 's'}"


def without_warnings(unstated: Iterable[str], unknown: int, outcome: str) -> Iterator[str]:
    """Yield warnings about `--without`.

    Args:
        unstated: Preferences whose key no capture has.
        unknown: Captures of which the preference is not known.
        outcome: What is done with these: `packed`, `left out`.
    """
    for text in unstated:
        yield f"no capture states {text}, so it leaves out none; check how it is written"
    if unknown:
        number = count(unknown, "capture")
        yield (
            f"the preference of {number} is not known, since a source was not collected: {outcome}"
        )


def table(rows: Sequence[Sequence[object]], indent: str = "  ") -> str:
    """Columns; numbers are set to the right."""
    texts = [[safe(str(cell)) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    numeric = [all(isinstance(row[i], int | float) for row in rows) for i in range(len(widths))]
    lines = []
    for row in texts:
        cells = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        )
        lines.append(indent + "  ".join(cells).rstrip())
    return "\n".join(lines)


def program() -> str:
    """The name by which this program was called, for commands to copy."""
    called = os.environ.get("NACRE_COMMAND", "")
    if called:
        return quote(called)
    local = Path(sys.argv[0]).parts[-2:] == ("nacre", "__main__.py") and Path("nacre").is_file()
    return "./nacre" if local else "nacre"


def format_path(path: Path) -> str:
    """A path for commands to copy: relative where that is shorter."""
    here = Path.cwd()
    text = str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
    return text or "."


def typed(path: Path | str) -> str:
    """Return a path for a shell, quoted except for `*`."""
    text = path if isinstance(path, str) else format_path(path)
    return "*".join(quote(part) if part else "" for part in text.split("*"))


def pairs(facts: Mapping[str, Any], indent: str = "  ") -> str:
    """Names and values, one a line, the values below each other."""
    width = max(map(len, facts), default=0)
    return "\n".join(f"{indent}{safe(name):<{width}}  {safe(str(v))}" for name, v in facts.items())
