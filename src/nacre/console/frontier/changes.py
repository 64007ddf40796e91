"""Changes of a job's frontier, whether it runs or not: each is a task in the background."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, Final

import msgspec

from nacre.console.actions import operate
from nacre.console.call import Call
from nacre.console.forms import file_of
from nacre.console.frontier.uris import count_affected
from nacre.console.settings.changes import apply_change
from nacre.core.message_data import to_builtins
from nacre.fleet.refusals import RefusedRequestError
from nacre.job.apply_change import ChangeRequest
from nacre.messages import message
from nacre.ops.fields import LineText, ShortText, Text, Texts, Whole
from nacre.ops.frontier import FRONTIER
from nacre.ops.queued_uris import FrontierPreview, PreviewWish
from nacre.scope.patterns.matching import matcher
from nacre.uri.parse import is_ip
from nacre.uri.surt import queue_host, queue_root
from nacre.web.workers.background import HeldTask, Tell

ACTIONS: Final = tuple(FRONTIER)
"""The actions for which an expression chooses URIs or queues."""
_FIELDS: Final = {name: operation.request.__struct_fields__ for name, operation in FRONTIER.items()}
OF_URIS: Final = frozenset(name for name, fields in _FIELDS.items() if "urls" in fields)
"""Actions on URIs; the others are on queues."""
_OF_SCOPE: Final = frozenset(name for name in OF_URIS if "queues" not in _FIELDS[name])
"""Actions that change the scope."""
DIFFERS: Final = 0.05
"""Share by which a count may differ from that of the preview."""
MORE: Final = 50
GROWN: Final = 0.5
"""Excluded URIs may have grown by this number, or by this share, on other hosts too: a page of a
trap has many links, which are to be excluded as well. They may have shrunk by any number: a crawl
continues to fetch while the user reads the preview."""
LONGEST_DELAY: Final = 86_400
"""Seconds of the longest politeness delay that a page sets."""
_LONG: Final = 3600.0


class FrontierWish(msgspec.Struct, frozen=True):
    """A change of the frontier; if there are two expressions, both must match.

    Attributes:
        urls: Expression that is found in the URLs; "" for all.
        queues: Expression that is found in the queue keys; "" for all.
        expect: The count that a preview showed; null: there was none. If the present count differs
            by more than a twentieth, the change is refused (409).
        expect_queues: The queues of the preview. Excluded URIs may have grown by any number
            if they are in no more queues than these; null: by fifty URIs, or by half.
        limit: Most URIs, for `first`; 0: all.
        everything: Without an expression all is meant; changes of URIs need it.
    """

    urls: LineText = ""
    queues: LineText = ""
    expect: Whole | None = None
    expect_queues: Whole | None = None
    limit: Whole = 0
    everything: bool = False


class FrontierForm(FrontierWish, frozen=True):
    """A change of the frontier, by a form.

    Attributes:
        action: The action.
        typed: The count, typed to confirm it; needed with `expect`.
    """

    action: ShortText = ""
    typed: ShortText = ""


class FrontierChanged(msgspec.Struct, frozen=True):
    """The result of a change.

    Attributes:
        action: Its name.
        changed: URIs or queues that changed.
        counted: The count just before; null if no count was expected.
        rule: Path of the rule of the scope that `exclude` or `include` changed; "" for none.
        over: Of `include`: the run is over, so that nothing is queued again.
    """

    action: str
    changed: int
    counted: int | None
    rule: str = ""
    over: bool = False


class ImportWish(msgspec.Struct, frozen=True):
    """Lines for the frontier.

    Attributes:
        lines: URLs, or lines of a journal, of a crawl.log or of a seed list.
        mode: `import`, `recover`, `crawl-log` or `seeds`.
        scoped: Only URIs in scope.
        force: Also URIs that were done or deleted before.
    """

    lines: Texts
    mode: ShortText = "import"
    scoped: bool = False
    force: bool = False


class ImportForm(msgspec.Struct, frozen=True):
    """An import by a form; its field `file` may have a file in place of the lines.

    Attributes:
        lines: As `ImportWish`; likewise the rest.
    """

    lines: Text = ""
    mode: ShortText = "import"
    scoped: bool = False
    force: bool = False


class ImportedLines(msgspec.Struct, frozen=True):
    """The result of an import.

    Attributes:
        changed: URIs that were scheduled.
        tally: Counts of the lines.
        rejected: The first rejected lines, each with `number`, `text`, `why`.
    """

    changed: int
    tally: dict[str, int]
    rejected: tuple[dict[str, Any], ...]


class DelayForm(msgspec.Struct, frozen=True):
    """Another politeness delay for a host.

    Attributes:
        queue: Key of the queue of the host.
        delay: Seconds, as typed.
    """

    queue: LineText = ""
    delay: ShortText = ""


def check_change(action: str, request: FrontierWish) -> None:
    """Refuse a change that is not possible.

    Raises:
        RefusedRequestError: There is no such action (404), or nothing was chosen (422).
        ConfigError: An expression cannot be read.
    """
    if action not in ACTIONS:
        names = ", ".join((*ACTIONS, "import"))
        raise RefusedRequestError(
            404,
            "not-found",
            message(
                "console.no-frontier-action",
                "there is no action {action}; there are {names}",
                action=action,
                names=names,
            ),
        )
    matcher(request.urls), matcher(request.queues)
    chosen = request.urls or request.queues or request.everything or request.expect is not None
    if action in OF_URIS and not chosen:
        raise RefusedRequestError(
            422,
            "nothing-chosen",
            message(
                "console.urls-or-queues",
                "{action} needs `urls` or `queues`, an expression; `everything` means all",
                action=action,
            ),
        )
    if action in _OF_SCOPE and (request.queues or not request.urls):
        raise RefusedRequestError(
            422,
            "no-queues",
            message(
                "console.urls-only",
                "{action} needs `urls`, an expression for the scope, without `queues`",
                action=action,
            ),
        )
    if request.urls and action not in OF_URIS:
        raise RefusedRequestError(
            422,
            "no-urls",
            message(
                "console.queues-only",
                "{action} is done to queues: name them by `queues`, without `urls`",
                action=action,
            ),
        )


async def change(call: Call) -> HeldTask:
    """Change the URIs or queues that expressions choose; the result is a `FrontierChanged`.

    Raises:
        RefusedRequestError: The change is not possible, or the count was not confirmed (422).
        ConfigError: An expression cannot be read.
    """
    change_request: FrontierWish = call.body
    if isinstance(change_request, FrontierForm):
        _require_confirmed(change_request)
        action = change_request.action
    else:
        action = str(call.request.path_params["action"])
    check_change(action, change_request)
    job, readers, clock = call.job(), call.readers, call.clock
    question = {field: getattr(change_request, field) for field in FrontierWish.__struct_fields__}

    async def work(tell: Tell) -> dict[str, object]:
        counted = await _counted(call, action, change_request, tell)
        request = _request(action, change_request)
        by = call.identity.log_name
        result = await operate(call.common, job, FRONTIER[action], request, by, tell)
        readers.changed(job.layout.root, clock.now())
        return {"action": action, "counted": counted, **to_builtins(result)}

    call.note.change(None, {"action": action, **{name: v for name, v in question.items() if v}})
    return call.tasks.begin(job.id, action, call.identity.name, work, question)


def _require_confirmed(form: FrontierForm) -> None:
    """Refuse a form in which the count was not typed."""
    if form.expect is not None and re.sub(r"[\s,.']", "", form.typed) != str(form.expect):
        raise RefusedRequestError(
            422,
            "not-confirmed",
            message(
                "console.confirm-number",
                "to confirm, type {expect}, the number that was counted; nothing was changed",
                expect=form.expect,
            ),
        )


async def _counted(
    call: Call, action: str, frontier_request: FrontierWish, tell: Tell
) -> int | None:
    """Return the present count of a change; None if there was no preview.

    Raises:
        RefusedRequestError: It differs too much from that of the preview (409).
    """
    if frontier_request.expect is None:
        return None
    root = call.job().layout.root
    call.readers.changed(root, call.clock.now())
    request = to_builtins(PreviewWish(action, frontier_request.urls, frontier_request.queues))
    answer = await call.readers.work(count_affected.name, root, tell, **request)
    preview = msgspec.convert(answer, FrontierPreview)
    if not is_as_seen(action, frontier_request, preview.count, preview.queues):
        raise RefusedRequestError(
            409,
            "count-differs",
            message(
                "console.preview-outdated",
                "the preview counted {expect:,}, and now there are {count:,}: check the "
                "expression again",
                expect=frontier_request.expect,
                count=preview.count,
            ),
        )
    return preview.count


def is_as_seen(action: str, request: FrontierWish, number: int, queues: int) -> bool:
    """Whether a count is near enough to that of the preview (pure).

    Args:
        action: The action.
        request: The change, with the counts of the preview.
        number: The present count.
        queues: The queues that it is in.
    """
    expect = request.expect or 0
    if action == "exclude":
        # A trap grows while the user reads the preview; on the same hosts it is the same trap.
        if request.expect_queues is not None and queues <= request.expect_queues:
            return True
        return number - expect <= max(GROWN * expect, MORE)
    return abs(number - expect) <= DIFFERS * max(number, expect)


def _request(action: str, form: FrontierWish) -> msgspec.Struct:
    """Return the request of the operation of a change (pure).

    What a preview counted without an expression was everything.
    """
    chosen = form.everything or form.expect is not None
    values = {**msgspec.structs.asdict(form), "everything": chosen}
    request: msgspec.Struct = FRONTIER[action].request(**{n: values[n] for n in _FIELDS[action]})
    return request


MODES: Final[Mapping[str, tuple[str, ...]]] = {
    "import": ("import",),
    "recover": ("finished", "pending"),
    "crawl-log": ("crawl-log",),
    "seeds": ("seeds",),
}
"""Kinds of an imported file, and the passes over it, each a name of `ImportMode`."""


@contextmanager
def _lines_file(suffix: str = ".txt") -> Iterator[IO[bytes]]:
    """A temporary file for lines to import, of this user alone.

    It stays after the block for the task that reads it; if the block fails, it is removed.

    Args:
        suffix: `.txt`, or `.txt.gz` for compressed lines.
    """
    with NamedTemporaryFile("wb", prefix="nacre-import-", suffix=suffix, delete=False) as file:
        try:
            yield file
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


async def take_lines(call: Call) -> HeldTask:
    """Take lines into the frontier; a job that never ran begins its first run."""
    form: ImportWish | ImportForm = call.body
    if isinstance(form, ImportWish):
        return import_lines(call, "\n".join(form.lines) + "\n", form)
    upload = await file_of(call, "file")
    if upload is None:
        return import_lines(call, form.lines, form)
    is_packed = str(upload.filename or "").lower().endswith(".gz")
    with _lines_file(".txt.gz" if is_packed else ".txt") as file:
        while data := await upload.read(1 << 20):
            file.write(data)
        file.flush()
        return _begin_import(call, Path(file.name), form)


def import_lines(call: Call, text: str, options: ImportWish | ImportForm) -> HeldTask:
    """Begin to take lines into the frontier.

    Args:
        call: The request.
        text: The lines.
        options: How they are read; its lines do not count.

    Raises:
        RefusedRequestError: There is no such mode (422).
    """
    with _lines_file() as file:
        file.write(text.encode("utf-8", "backslashreplace"))
        file.flush()
        return _begin_import(call, Path(file.name), options)


def _begin_import(call: Call, file: Path, options: ImportWish | ImportForm) -> HeldTask:
    """Begin to take the lines of a file in, which is removed when that is over.

    Raises:
        RefusedRequestError: There is no such mode (422).
    """
    mode, scoped, force = options.mode, options.scoped, options.force
    if mode not in MODES:
        names = ", ".join(MODES)
        raise RefusedRequestError(
            422,
            "no-mode",
            message(
                "console.no-mode",
                "there is no mode {mode}; there are {names}",
                mode=mode,
                names=names,
            ),
        )
    job, readers, clock = call.job(), call.readers, call.clock

    async def work(tell: Tell) -> Any:  # noqa: ANN401 - as the task gives it
        result = await readers.work(
            "import-uris", job.layout.root, tell, file=str(file), modes=MODES[mode],
            scoped=scoped, force=force, retain_failures=False, by=call.identity.log_name,
        )  # fmt: skip
        readers.changed(job.layout.root, clock.now())
        return result

    task = call.tasks.begin(
        job.id, "seeds" if mode == "seeds" else "import", call.identity.name, work,
        {"mode": mode, "scoped": scoped, "force": force},
        readers.patience("import-uris", job.layout.root),
    )  # fmt: skip
    task.then(lambda: file.unlink(missing_ok=True))
    return task


async def set_delay(call: Call) -> HeldTask:
    """Set another politeness delay for a host, by a sheet.

    Raises:
        RefusedRequestError: It is not the queue of a host, or that is no delay (422).
    """
    form: DelayForm = call.body
    host = queue_host(form.queue)
    if host == form.queue and not is_ip(host.partition("#")[0]):
        raise RefusedRequestError(
            422,
            "no-host",
            message(
                "console.not-a-host-queue",
                "{queue} is not the queue of one host: make a sheet for its URLs",
                queue=form.queue,
            ),
        )
    seconds = _seconds(form.delay)
    assignments = [f"politeness.delay={seconds:g}s"]
    request = ChangeRequest(assignments=assignments, place=queue_root(form.queue))
    job, readers, clock = call.job(), call.readers, call.clock

    async def work(_: Tell) -> dict[str, object]:
        changed, _running = await apply_change(call, job, request, _LONG)
        text = "; ".join(f"{path}: {new}" for path, _, new in changed.said)
        readers.changed(job.layout.root, clock.now())
        return {"changed": len(changed.said), "text": text}

    facts = {"queue": form.queue, "delay": seconds}
    return call.tasks.begin(job.id, "delay", call.identity.name, work, facts)


def _seconds(delay: str) -> float:
    """Read a delay."""
    try:
        seconds = float(delay)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST_DELAY:
        raise RefusedRequestError(
            422,
            "no-delay",
            message(
                "console.delay-range",
                "a delay is a number of seconds, 0 to {longest_delay}; not {delay!r}",
                longest_delay=LONGEST_DELAY,
                delay=delay,
            ),
        )
    return seconds
