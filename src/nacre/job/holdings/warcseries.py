"""The two series of WARCs of a run: one for all records, one for those that are large."""

import os
import socket

from msgspec import structs

from nacre import __version__
from nacre.archive.segment import Origin, WarcWriter
from nacre.core.clock import Clock
from nacre.fetch.settings import fill_user_agent
from nacre.job.configuration.settings import JobSettings
from nacre.job.numbers import Numbers
from nacre.job.runrow import RunRow
from nacre.store.commit import GroupCommit
from nacre.store.store import Store

_TOTAL = "warc.total"


def warc_writers(
    settings: JobSettings,
    run: RunRow,
    store: Store,
    commit: GroupCommit,
    clock: Clock,
    numbers: Numbers,
) -> tuple[WarcWriter, WarcWriter]:
    """The writers of both; what they wrote together is counted durably over all runs.

    Args:
        settings: The job's.
        run: The run, which names the directory and is named in each warcinfo record.
        store: Where the count is.
        commit: Makes durable what they write.
        clock: The time.
        numbers: Gives serial numbers of files and ids of records.
    """
    origin = Origin(
        software=f"Nacre/{__version__}",
        hostname=socket.gethostname(),
        pid=os.getpid(),
        is_part_of=settings.name,
        robots=settings.robots.policy.value,
        user_agent=fill_user_agent(settings.fetch.user_agent, settings.fetch.contact),
        http_from=settings.fetch.mail_from,
        run=f"runs/{run.name}",
    )
    apart = structs.replace(origin, series="large")
    total = store.counter(_TOTAL)
    writer = WarcWriter(settings.archive, origin, commit, clock, numbers, total)
    large = WarcWriter(settings.archive, apart, commit, clock, numbers)
    commit.on_seal(lambda: store.set_counter(_TOTAL, writer.total + large.total))
    return writer, large
