"""The parts of a console, made of its options."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from nacre.console.kept_work import TroubleBoard
from nacre.console.live.hub import JOBS, NoticeBoard, ViewerHub
from nacre.console.live.poller import Poller
from nacre.console.live.tails import LogTails
from nacre.console.metrics import RequestTimes
from nacre.console.port import PortOptions
from nacre.console.readers.background import TaskBook
from nacre.console.readers.pool import ReaderPool
from nacre.console.services import ConsoleServices
from nacre.core.clock import Clock
from nacre.fleet.audit import AuditLog
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.job_books import DiskQuotaBook, LabelBook, WantedKindBook
from nacre.fleet.keys import KeyBook
from nacre.fleet.launch import Launcher
from nacre.fleet.passwords import LoginDesk, PasswordChecker
from nacre.fleet.place_book import PlaceBook
from nacre.fleet.places import Fleet, JobPlace, RemovalBook
from nacre.fleet.reach import ConsoleReach
from nacre.fleet.schedule_book import ScheduleBook
from nacre.fleet.sessions import SessionBook
from nacre.fleet.standing import ConsoleStanding
from nacre.fleet.users import UserBook
from nacre.fleet.webhook_book import WebhookBook
from nacre.web.repeats import RepeatBook

CORES: Final = len(os.sched_getaffinity(0))
"""Processors that this process may use."""


class ConsoleOptions(NamedTuple):
    """The options of a console.

    Attributes:
        places: The directories that are looked through for jobs.
        port: Its port; 0 for a free one.
        folder: Folder of its own files.
        reach: Who can connect to it, and how.
        heritrix: The port with Heritrix's interface; None for none.
        max_running: Jobs that run concurrently; further ones wait for their turn.
    """

    places: Sequence[JobPlace]
    port: int
    folder: Path
    reach: ConsoleReach = ConsoleReach()
    heritrix: PortOptions | None = None
    max_running: int = CORES


def console_services(
    options: ConsoleOptions, database: ConsoleDatabase, users: UserBook, clock: Clock
) -> ConsoleServices:
    """The parts of a console with some options.

    Args:
        options: The options.
        database: The console's own.
        users: Those who may log in.
        clock: The time.
    """
    added = PlaceBook(database)
    places = added.beside(options.places)
    removals = RemovalBook(database)
    fleet, readers = Fleet(places, removals), ReaderPool()
    hub = ViewerHub()
    sessions = SessionBook(database, clock)
    poller = Poller(fleet, readers, database, clock, hub)
    return ConsoleServices(
        fleet=fleet,
        poller=poller,
        readers=readers,
        tasks=TaskBook(clock, hub.task_changed),
        keys=KeyBook(database, clock),
        sessions=sessions,
        clock=clock,
        users=users,
        logins=LoginDesk(users, sessions, clock, PasswordChecker()),
        audit=AuditLog(options.folder, clock),
        hub=hub,
        launcher=Launcher(fleet, poller, database, clock, options.max_running),
        labels=LabelBook(database),
        removals=removals,
        wanted=WantedKindBook(database),
        notices=NoticeBoard(),
        places=added,
        times=RequestTimes(),
        standing=ConsoleStanding(),
        troubles=TroubleBoard(partial(hub.changed, JOBS)),
        schedules=ScheduleBook(database, clock, partial(hub.changed, JOBS)),
        quotas=DiskQuotaBook(database, partial(hub.changed, JOBS)),
        webhooks=WebhookBook(database, clock),
        repeats=RepeatBook(database, clock),
        reach=options.reach,
        tails=LogTails(hub, clock),
    )
