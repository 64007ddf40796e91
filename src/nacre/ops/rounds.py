"""The operation that runs batch rounds; `round_requests` has its options."""

from typing import TYPE_CHECKING, Any, Final

import msgspec

from nacre.errors import JobError
from nacre.messages import message
from nacre.ops.job_states import ROUNDS as ROUNDS_AT_REST
from nacre.ops.operation import Operation, OperationContext
from nacre.ops.round_requests import NO_LOCAL, LocalOptions, RoundsRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nacre.machine.layout import Layout
    from nacre.rounds.journal import StopSignal
    from nacre.rounds.runner import RoundsListener, RoundsResult


def require_no_stop(stop: "StopSignal", layout: "Layout") -> None:
    """Refuse to begin rounds that the file `control/stop` would end at once.

    Raises:
        JobError: The file exists.
    """
    if stop.why:
        raise JobError(
            message(
                "ops.control-file",
                "{control} is there, so that no round begins: remove it",
                control=layout.control / "stop",
            )
        )


def run_rounds(
    context: OperationContext,
    request: RoundsRequest,
    local: LocalOptions = NO_LOCAL,
    listener: "RoundsListener | None" = None,
    stop: "StopSignal | None" = None,
    *,
    seeds: "Sequence[str] | None" = None,
) -> "RoundsResult":
    """Run rounds; a round that was interrupted is finished first.

    Args:
        context: The job.
        request: The options.
        local: The options of the user of this machine.
        listener: Receives the progress; None: nobody does.
        stop: The wish to end; None for that of the file `control/stop`.
        seeds: URLs and files of them that are injected first; () for the job's own list, None for
            no inject.

    Raises:
        ConfigError: A setting, an option or a library is missing or wrong.
        JobError: The directory is no batch crawl, or the file `control/stop` exists.
        StorageError: The storage cannot be read or written.
    """
    from nacre.ops.round_steps import RequestedSteps
    from nacre.rounds.journal import StopSignal
    from nacre.rounds.runner import SILENT, RoundsRunner

    layout, listener = context.layout, listener or SILENT
    stop = stop or StopSignal(layout)
    require_no_stop(stop, layout)
    steps = RequestedSteps(layout, request, local, stop, listener)
    with RoundsRunner(layout, steps, stop, listener) as runner:
        if seeds is not None:
            runner.inject(seeds)
        return runner.run()


ROUNDS: Final[Operation[RoundsRequest, Any]] = Operation(
    "cycle",
    "Crawl in rounds: generate a list, fetch it, update the table; again and again.",
    RoundsRequest, msgspec.Struct, run_rounds, frozenset((ROUNDS_AT_REST,)),
    detail="A round that was interrupted is continued at the step that it was in. `nacre cycle DIR "
    "STEP` does one step.",
)  # fmt: skip
