"""Start a job, visit it again: the options, and the command that carries them out.

The process that runs a job is always a command, so that a job outlives who starts it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from nacre.errors import ConfigError, JobError
from nacre.messages import message
from nacre.ops.fields import ShortText, Texts
from nacre.ops.operation import option_words
from nacre.runs.budget import parse_budget

if TYPE_CHECKING:
    from nacre.config.check import Loaded
    from nacre.core.clock import Clock
    from nacre.job.checks import Findings
    from nacre.machine.layout import Layout
    from nacre.settings.settings import JobSettings


class StartRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a start.

    Attributes:
        checkpoint: Go back to this checkpoint first; `latest` for the last one; "" for none.
        paused: It waits for `resume` before its first fetch.
        accept_loss: Start though archived data is missing.
        set: Other settings for this run, `path=value`.
    """

    checkpoint: ShortText = ""
    paused: bool = False
    accept_loss: bool = False
    set: Texts = ()


class RecrawlRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a recrawl.

    Attributes:
        full: Visit everything, as the first run did.
        budget: What it may spend: 500 (requests), 2GB or 3h; "" for no limit.
        keep: What is stored in full.
        set: Other settings for this run, `path=value`.
    """

    full: bool = False
    budget: ShortText = ""
    keep: Literal["strict", "lean", "delta"] = "strict"
    set: Texts = ()


def run_words(request: StartRequest) -> list[str]:
    """Return the options of `nacre run` for a start (pure)."""
    return option_words(request, without=("paused",))


def recrawl_words(request: RecrawlRequest) -> list[str]:
    """Return the options of `nacre recrawl` for a recrawl (pure).

    Raises:
        ConfigError: The options exclude each other, or the budget cannot be read.
    """
    if request.full and request.budget:
        raise ConfigError(
            message(
                "ops.full-recrawl-budget",
                "a full recrawl visits everything and knows no budget",
            )
        )
    parse_budget(request.budget)
    return option_words(request)


def examine(
    layout: "Layout", assignments: Sequence[str] = (), *, strict: bool = False
) -> "tuple[Loaded[JobSettings] | None, Findings]":
    """Return the settings of a job, None if they cannot be read, and all findings.

    Args:
        layout: Directories of the job.
        assignments: Other settings, `path=value`.
        strict: An invalid line of a seed list is a problem.

    Raises:
        JobError: The directory is not a job.
    """
    import asyncio

    from nacre.fetch.dns import DnsResolver
    from nacre.job.checks import check
    from nacre.machine.clock import SystemClock
    from nacre.settings.contact import resolver_lookup
    from nacre.settings.load import examine_job
    from nacre.settings.settings import JobSettings

    loaded, problems = examine_job(layout, assignments)
    settings = loaded.settings if loaded else JobSettings()
    lookup = resolver_lookup(DnsResolver(settings.dns, SystemClock()))
    return loaded, asyncio.run(check(layout, loaded, problems, lookup, strict=strict))


def require_later(layout: "Layout", clock: "Clock") -> None:
    """Refuse a `--now` before the end of the last run.

    Raises:
        JobError: It is before: the history of the job would go back.
    """
    from nacre.inspect.view import latest_time
    from nacre.machine.clock import MovedClock
    from nacre.runs.runs import start_time_error

    if isinstance(clock, MovedClock):
        text = start_time_error(clock.now(), latest_time(layout), str(layout.root))
        if text:
            raise JobError(text)


_LASTING: Final = ("files", "epoch", "warc.serial", "warc.total")
"""Values of the store that a checkpoint does not set back."""


def restore(layout: "Layout", settings: "JobSettings", name: str) -> tuple[str, str]:
    """Put a checkpoint in the place of the store of a stopped job.

    Args:
        layout: Directories of the job.
        settings: Its settings.
        name: Name of the checkpoint; `latest` for the last one.

    Returns:
        The name of the checkpoint, and the path of the former store.

    Raises:
        JobError: There is no checkpoint of that name, or the job is running.
        StorageError: The checkpoint cannot be put there.
    """
    from nacre.store.checkpoint import checkpoints, restore_checkpoint
    from nacre.store.disk import RealDisk

    names = checkpoints(str(layout.checkpoints))
    if name == "latest" and names:
        name = names[-1]
    if name not in names:
        existing = ", ".join(names) or f"none yet; `nacre checkpoint {layout.root}` makes one"
        raise JobError(
            message(
                "ops.no-checkpoint",
                "there is no checkpoint {name!r} of {root}; there are: {names}",
                name=name,
                root=layout.root,
                names=existing,
            )
        )
    folder, memory = str(layout.checkpoints / name), settings.store.memory
    former = restore_checkpoint(
        RealDisk(), folder, str(layout.store), lasting=_LASTING, memory=memory
    )
    return name, str(former)
