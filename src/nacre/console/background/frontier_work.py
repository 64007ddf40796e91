"""Changes of a job's frontier for who asks the console, running or not."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, Final

import msgspec

from nacre.console.actions import operate
from nacre.console.call import Call
from nacre.console.fleet.places import FoundJob
from nacre.console.problems import RefusedRequestError
from nacre.console.readers.background import HeldTask, Tell
from nacre.frontier.pending import matcher
from nacre.job.control import NotRunningError, ask_command
from nacre.ops.fields import LineText, Whole
from nacre.ops.frontier import FRONTIER
from nacre.uri.parse import is_ip
from nacre.uri.surt import queue_host, queue_root

ACTIONS: Final = tuple(FRONTIER)
"""The actions that an expression chooses URIs or queues for."""
OF_URIS: Final = frozenset(("delete", "exclude", "include", "forget", "first"))
"""Those on URIs; the others are on queues."""
_OF_SCOPE: Final = frozenset(("exclude", "include"))
"""Those that change the scope."""
DIFFERS: Final = 0.05
"""Share by which a count may differ from the one that was seen in the preview."""
MORE: Final = 50
GROWN: Final = 0.5
"""What is excluded may have grown by these URIs, or by this share, on other hosts too: a page of a
trap has many links, and who excludes it wants those too. It may have shrunk by any number: a crawl
goes on fetching while somebody reads the preview."""
LONGEST_DELAY: Final = 86_400
"""Seconds of the longest politeness delay that a page sets."""
_LONG: Final = 3600.0


class FrontierWish(msgspec.Struct, frozen=True):
    """A change of the frontier; both expressions must be found where both are given.

    Attributes:
        urls: Expression that is found in the URLs; "" for all.
        queues: Expression that is found in the queue keys; "" for all.
        expect: The count that a preview showed; null: there was none. One that differs by more
            than a twentieth from that of now is refused (409).
        expect_queues: The queues that it was in. What is excluded may have grown by any number
            where it is in no more queues than these; null: by fifty URIs, or by half.
        limit: Most URIs, for `first`; 0: all.
        everything: Without an expression all is meant; needed for what is done to URIs.
    """

    urls: LineText = ""
    queues: LineText = ""
    expect: Whole | None = None
    expect_queues: Whole | None = None
    limit: Whole = 0
    everything: bool = False


def check_wish(action: str, wish: FrontierWish) -> None:
    """Refuse a wish that cannot be granted.

    Raises:
        RefusedRequestError: There is no such action (404), or nothing was chosen (422).
        ConfigError: An expression is none.
    """
    if action not in ACTIONS:
        names = ", ".join((*ACTIONS, "import"))
        raise RefusedRequestError(
            404, "not-found", f"there is no action {action}; there are {names}"
        )
    matcher(wish.urls), matcher(wish.queues)
    chosen = wish.urls or wish.queues or wish.everything or wish.expect is not None
    if action in OF_URIS and not chosen:
        raise RefusedRequestError(
            422, "nothing-chosen",
            f"{action} needs `urls` or `queues`, an expression; `everything` means all",
        )  # fmt: skip
    if action in _OF_SCOPE and (wish.queues or not wish.urls):
        raise RefusedRequestError(
            422, "no-queues",
            f"{action} needs `urls`, an expression for the scope, without `queues`",
        )  # fmt: skip
    if wish.urls and action not in OF_URIS:
        raise RefusedRequestError(
            422, "no-urls", f"{action} is done to queues: name them by `queues`, without `urls`"
        )


def begin_change(call: Call, job: FoundJob, action: str, wish: FrontierWish) -> HeldTask:
    """Begin a change of the frontier; its result has `action`, `changed` and `counted`.

    That of `exclude` has `rule` too: the path of the rule that took the expression, such as
    `scope.4`; "" where it had it already. That of `include`, which undoes `exclude`, has `rule` and
    `over`: the run is over, so that nothing waits again.

    Raises:
        RefusedRequestError: It cannot be granted.
        ConfigError: An expression is none.
    """
    check_wish(action, wish)

    async def work(tell: Tell) -> dict[str, Any]:
        counted = await _counted(call, job, action, wish, tell)
        result = await operate(
            call.services, job, FRONTIER[action], _request(action, wish), by_console(call), tell
        )
        call.services.readers.changed(job.layout.root, call.services.clock.now())
        return {"action": action, "counted": counted, **msgspec.to_builtins(result)}

    facts = msgspec.to_builtins(wish)
    call.note.change(None, {"action": action, **{name: v for name, v in facts.items() if v}})
    return call.services.tasks.begin(job.id, action, call.identity.name, work, facts)


async def _counted(
    call: Call, job: FoundJob, action: str, wish: FrontierWish, tell: Tell
) -> int | None:
    """What the wish means now; None where nobody looked before.

    Raises:
        RefusedRequestError: It differs too much from what they saw (409).
    """
    if wish.expect is None:
        return None
    call.services.readers.changed(job.layout.root, call.services.clock.now())
    answer = await call.services.readers.work(
        "count", job.layout.root, tell, action=action, urls=wish.urls, queues=wish.queues
    )
    number = int(answer["count"])
    if not is_as_seen(action, wish, number, int(answer["queues"])):
        raise RefusedRequestError(
            409, "count-differs",
            f"the preview counted {wish.expect:,}, and now there are {number:,}: look again at "
            "what is meant",
        )  # fmt: skip
    return number


def is_as_seen(action: str, wish: FrontierWish, number: int, queues: int) -> bool:
    """Whether a count is near enough to the one that was seen in the preview (pure).

    Args:
        action: What is to be done.
        wish: With what the preview showed.
        number: The count of now.
        queues: The queues that it is in.
    """
    expect = wish.expect or 0
    if action == "exclude":
        # A trap grows while somebody reads. On the same hosts it is still what they saw.
        if wish.expect_queues is not None and queues <= wish.expect_queues:
            return True
        return number - expect <= max(GROWN * expect, MORE)
    return abs(number - expect) <= DIFFERS * max(number, expect)


def _request(action: str, wish: FrontierWish) -> msgspec.Struct:
    """The request of an operation that a change of the frontier means (pure).

    What a preview counted without an expression was everything.
    """
    kind: type[msgspec.Struct] = FRONTIER[action].request
    chosen = wish.everything or wish.expect is not None
    values = {**msgspec.to_builtins(wish), "everything": chosen}
    names = [field.name for field in msgspec.structs.fields(kind)]
    return msgspec.convert({name: values[name] for name in names}, kind)


async def _set(call: Call, job: FoundJob, request: Mapping[str, Any], by: str) -> Any:  # noqa: ANN401
    """Change settings of a job; what changed, as path, former and new value."""
    try:
        answer = await ask_command(job.layout.socket, "change", _LONG, change=request, by=by)
    except NotRunningError:
        readers = call.services.readers
        found = await readers.ask("change-settings", job.layout.root, _LONG, change=request, who=by)
        return found["said"]
    return answer["changed"]["said"]


def by_console(call: Call) -> str:
    """Name of who asks, for job.log."""
    return f"{call.identity.name} via console"


MODES: Final[Mapping[str, tuple[str, ...]]] = {
    "import": ("import",),
    "recover": ("finished", "pending"),
    "crawl-log": ("crawl-log",),
    "seeds": ("seeds",),
}
"""What an imported file is, and the passes over it, each a name of `ImportMode`."""


@contextmanager
def lines_file(suffix: str = ".txt") -> Iterator[IO[bytes]]:
    """A temporary file for lines to import, of this user alone.

    It stays after the block for the task that reads it; where the block fails, it is removed.
    `begin_import` is to be called in the block.

    Args:
        suffix: `.txt`, or `.txt.gz` for packed lines.
    """
    with NamedTemporaryFile("wb", prefix="nacre-import-", suffix=suffix, delete=False) as file:
        try:
            yield file
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def import_lines(
    call: Call, job: FoundJob, text: str, mode: str, *, scoped: bool = False, force: bool = False
) -> HeldTask:
    """Begin to take lines in; see `begin_import`."""
    with lines_file() as file:
        file.write(text.encode("utf-8", "backslashreplace"))
        file.flush()
        return begin_import(call, job, Path(file.name), mode, scoped=scoped, force=force)


def begin_import(
    call: Call, job: FoundJob, file: Path, mode: str, *, scoped: bool = False, force: bool = False
) -> HeldTask:
    """Begin to take the lines of a file in; the file is removed when that is over.

    Raises:
        RefusedRequestError: There is no such mode (422).
    """
    if mode not in MODES:
        names = ", ".join(MODES)
        raise RefusedRequestError(422, "no-mode", f"there is no mode {mode}; there are {names}")
    what = "seeds" if mode == "seeds" else "import"
    by = by_console(call)

    async def work(tell: Tell) -> Any:  # noqa: ANN401 - as the task gives it
        found = await call.services.readers.work(
            "import-uris", job.layout.root, tell, file=str(file), modes=MODES[mode],
            scoped=scoped, force=force, retain_failures=False, by=by,
        )  # fmt: skip
        call.services.readers.changed(job.layout.root, call.services.clock.now())
        return found

    facts = {"mode": mode, "scoped": scoped, "force": force}
    held = call.services.tasks.begin(job.id, what, call.identity.name, work, facts)
    held.then(lambda: file.unlink(missing_ok=True))
    return held


def begin_delay(call: Call, job: FoundJob, queue: str, delay: str) -> HeldTask:
    """Begin to give a host another politeness delay, by a sheet.

    Args:
        call: The request.
        job: The job.
        queue: Key of the queue of the host.
        delay: Seconds, as typed.

    Raises:
        RefusedRequestError: It is not the queue of a host, or that is no delay (422).
    """
    host = queue_host(queue)
    if host == queue and not is_ip(host.partition("#")[0]):
        raise RefusedRequestError(
            422, "no-host", f"{queue} is not the queue of one host: make a sheet for its URLs"
        )
    try:
        seconds = float(delay)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST_DELAY:
        raise RefusedRequestError(
            422, "no-delay", f"a delay is a number of seconds, 0 to {LONGEST_DELAY}; not {delay!r}"
        )
    assignments = [f"politeness.delay={seconds:g}s"]
    request = {"assignments": assignments, "place": queue_root(queue)}

    async def work(_: Tell) -> dict[str, Any]:
        said = await _set(call, job, request, by_console(call))
        text = "; ".join(f"{path}: {new}" for path, _, new in said)
        call.services.readers.changed(job.layout.root, call.services.clock.now())
        return {"changed": len(said), "text": text}

    facts = {"queue": queue, "delay": seconds}
    return call.services.tasks.begin(job.id, "delay", call.identity.name, work, facts)
