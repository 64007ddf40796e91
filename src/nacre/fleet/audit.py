"""The audit log: a line for each request that changes something, or that was refused.

`console/audit.log` is append-only, and only its owner can read it. One place in the code writes the
lines, for every route with an unsafe verb; a handler adds details with `AuditNote`. The log never
contains secrets: they are shown as references, or not at all. Lines about a job are copied to its
`job.log`.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from nacre.config.secret import NOT_SHOWN
from nacre.core.clock import Clock, iso_millis
from nacre.core.message_data import to_builtins, to_json
from nacre.fleet.places import FoundJob
from nacre.machine.local_files import append_lines
from nacre.runs.runs import append_note, note_line
from nacre.uri.typed import hidden

FILE: Final = "audit.log"
LONGEST: Final = 2000
"""Maximum characters of a text in a line; the rest is only counted."""
MOST_ITEMS: Final = 100
"""Maximum items of a list or mapping in a line; the rest is only counted."""
LONGEST_LINE: Final = 32_768
"""Maximum bytes of a line; a longer entry is replaced by its length."""
_DEEPEST: Final = 8
WINDOW: Final = 60.0
"""Seconds over which refusals of anonymous requests are counted."""
MOST_OF_NOBODY: Final = 60
"""Maximum lines about anonymous requests per window, so that they cannot fill the disk."""
MOST_KEPT: Final = 1000
"""Maximum lines kept in memory while the file cannot be written."""
_SECRET_NAMES: Final = ("password", "secret", "token", "cookie", "authorization", "proxy")
_SECRET_KEYS: Final = frozenset(("key", "old", "new_password"))


class AuditEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of the audit log.

    Attributes:
        time: Time of the response, RFC 3339 with milliseconds.
        who: Name of the user or key; "" for an anonymous request.
        how: How the caller authenticated: `session`, `key`, `link`, `password`, or `command` for a
            command run by an operating system user; "" for an anonymous request.
        address: The address that the request came from.
        action: Verb and path of the route, such as `POST /api/v1/jobs/{job}/pause`; or the command.
        path: The path of the request, if the route has parameters.
        job: Id of the job that the entry is about; "" for none.
        before: The value before the change; null if it is not known.
        after: The value after the change, or the requested value.
        status: Status code of the response.
        outcome: `done`, or the code of the refusal, such as `role`.
    """

    time: str
    who: str
    how: str
    address: str
    action: str
    status: int
    outcome: str
    path: str = ""
    job: str = ""
    before: Any = None
    after: Any = None


class AuditNote:
    """Additions of a handler to the line of its request.

    Attributes:
        who: Name of the caller that the handler identified; "" for the caller of the request.
        how: How that caller authenticated; "" likewise.
        job: Id of the job that the line is about; "" for the job in the path.
        jobs: Ids of the jobs that the line is about, if there are several.
        before: The value before the change.
        after: The value after the change; None for the body of the request.
        outcome: Code of a refusal after the request was accepted; "" for none.
    """

    __slots__ = ("after", "before", "how", "job", "jobs", "outcome", "who")

    def __init__(self) -> None:
        self.who = ""
        self.how = ""
        self.job = ""
        self.jobs: list[str] = []
        self.before: Any = None
        self.after: Any = None
        self.outcome = ""

    def change(self, before: object, after: object) -> None:
        """Note a change: structs, mappings, lists or plain values, which may contain secrets."""
        self.before, self.after = before, after


class AuditLog:
    """The audit log, which is opened for each line, so that it can be rotated.

    Args:
        folder: The console's folder.
        clock: The time.

    Attributes:
        path: Path of the log.
    """

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.path = folder / FILE
        self._clock = clock
        self._lines: list[bytes] = []
        self._trouble = ""
        self._window = clock.monotonic()
        self._of_nobody = 0
        self._writing = asyncio.Lock()

    @property
    def trouble(self) -> str:
        """The reason why lines cannot be written; "" for none."""
        return self._trouble

    @property
    def is_full(self) -> bool:
        """Whether too many lines wait to be written, so that changes must be refused."""
        return len(self._lines) >= MOST_KEPT

    def now(self) -> str:
        """Return the present time in the form of a line."""
        return iso_millis(self._clock.now())

    async def add(self, entry: AuditEntry) -> None:
        """Add a line, and keep it in memory while the file cannot be written."""
        if not entry.who and not self._may_add_of_nobody():
            return
        self._lines.append(line_of(entry))
        async with self._writing:
            waiting, self._lines = self._lines, []
            if not waiting:
                return
            try:
                await asyncio.to_thread(append_lines, self.path, b"".join(waiting))
            except OSError as error:
                self._lines = (waiting + self._lines)[:MOST_KEPT]
                self._trouble = f"{self.path} cannot be written: {error.strerror or error}"
            else:
                self._trouble = ""

    def _may_add_of_nobody(self) -> bool:
        now = self._clock.monotonic()
        if now - self._window >= WINDOW:
            left_out = self._of_nobody - MOST_OF_NOBODY
            self._window, self._of_nobody = now, 0
            if left_out > 0:
                first = AuditEntry(
                    self.now(), "", "", "", "refusals that were left out", 0, "counted",
                    after=left_out,
                )  # fmt: skip
                self._lines.append(line_of(first))
        self._of_nobody += 1
        return self._of_nobody <= MOST_OF_NOBODY


def line_of(entry: AuditEntry) -> bytes:
    """Return the line of an entry, without secrets and with limited length."""
    safe = msgspec.structs.replace(
        entry,
        before=without_secrets(entry.before),
        after=without_secrets(entry.after),
        path=entry.path[:LONGEST],
        job=entry.job[:LONGEST],
    )
    line = to_json(safe)
    if len(line) > LONGEST_LINE:
        text = f"… ({len(line):,} bytes)"
        line = to_json(msgspec.structs.replace(safe, before=None, after=text))
    return line + b"\n"


def without_secrets(value: object, name: str = "", depth: int = 0) -> Any:  # noqa: ANN401 - JSON
    """Return a value for the log, without secrets, and with long texts and lists cut.

    Args:
        value: A struct, mapping, list or plain value.
        name: Name of the field that it is in; "" for none.
        depth: Nesting depth of the value.
    """
    if isinstance(value, msgspec.Struct):
        value = to_builtins(value)
    if _hides(name) and value:
        return value if _is_reference(value) else NOT_SHOWN
    if depth >= _DEEPEST and isinstance(value, Mapping | list | tuple):
        return "…"
    if isinstance(value, Mapping):
        return _mapping(value, depth)
    if isinstance(value, list | tuple | set | frozenset):
        items = [without_secrets(item, name, depth + 1) for item in list(value)[:MOST_ITEMS]]
        return items if len(value) <= MOST_ITEMS else [*items, f"… {len(value):,} in all"]
    if isinstance(value, str):
        text = hidden(value)
        cut = len(text) > LONGEST
        return f"{text[:LONGEST]}… ({len(text):,} characters)" if cut else text
    return value if isinstance(value, int | float | None) else str(value)


def _mapping(value: Mapping[Any, Any], depth: int) -> dict[str, object]:
    items = list(value.items())
    result = {
        str(name)[:LONGEST]: without_secrets(item, str(name), depth + 1)
        for name, item in items[:MOST_ITEMS]
    }
    if len(items) > MOST_ITEMS:
        result["…"] = f"{len(items):,} in all"
    return result


def _hides(name: str) -> bool:
    lower = name.lower().rpartition(".")[2]
    return lower in _SECRET_KEYS or any(part in lower for part in _SECRET_NAMES)


def _is_reference(value: object) -> bool:
    """Whether the value is `{env: NAME}` or `{file: PATH}`."""
    return isinstance(value, Mapping) and len(value) == 1 and set(value) <= {"env", "file"}


def audit_text(entry: AuditEntry) -> str:
    """Return an audit entry as text for a job's log: action, user and outcome (pure)."""
    place = f", from {entry.address}" if entry.address else ""
    action = (
        entry.action if entry.outcome == "done" else f"refused ({entry.outcome}): {entry.action}"
    )
    return f"{action}, by {entry.who} ({entry.how}{place})"


async def copy_to_jobs(
    entry: AuditEntry, jobs: Iterable[FoundJob], names: Sequence[str] = ()
) -> None:
    """Copy an audit entry to the logs of its jobs, unless the request was anonymous.

    Args:
        entry: The entry.
        jobs: All jobs.
        names: Ids of further jobs that the entry is about.
    """
    ids = {*names, entry.job} - {""}
    if not entry.who or not ids:
        return
    line = note_line(entry.time, "INFO", audit_text(entry))
    for job in jobs:
        if job.id in ids:
            await asyncio.to_thread(append_note, job.layout.root, line)
