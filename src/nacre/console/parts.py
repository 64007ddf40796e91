"""The parts of a console: the few that each noun receives, and the assembly of all."""

import asyncio
from functools import partial
from typing import Final, NamedTuple

from nacre.console.logs.tails import LogTails
from nacre.console.metrics import RequestTimes
from nacre.core.clock import Clock
from nacre.fleet.audit import AuditLog
from nacre.fleet.books import JobBooks
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.job_books import DiskQuotaBook, LabelBook, WantedKindBook
from nacre.fleet.keys import KeyBook
from nacre.fleet.launch import Launcher
from nacre.fleet.passwords import LoginDesk, PasswordChecker
from nacre.fleet.place_book import PlaceBook
from nacre.fleet.places import Fleet, FoundJob, RemovalBook
from nacre.fleet.reach import ConsoleOptions, ConsoleReach
from nacre.fleet.schedule_book import ScheduleBook
from nacre.fleet.sessions import SessionBook
from nacre.fleet.standing import ConsoleStanding
from nacre.fleet.users import HeritrixKeyBook, UserBook
from nacre.fleet.webhook_book import WebhookBook
from nacre.web.live.hub import JOBS, NoticeBoard, ViewerHub
from nacre.web.live.poller import Poller
from nacre.web.port import PortParts, ReplayLink, ReplayPortParts
from nacre.web.repeats import RepeatBook
from nacre.web.supervision import TroubleBoard
from nacre.web.workers.background import TaskBook
from nacre.web.workers.pool import ReaderPool

EXPORTS: Final = 4
"""Processes at a time that write lists of captures for downloads."""


class Common(NamedTuple):
    """The parts of a console that all handlers use.

    Attributes:
        fleet: The jobs of this machine.
        poller: The present state of the jobs.
        readers: The processes that read the stores of jobs.
        tasks: The tasks in the background.
        clock: The time.
        hub: Notifies viewers of changes.
        notices: Results of forms, for the next page.
        reach: Who can connect to the console.
        exports: Turns of the processes that write lists of captures for downloads.
        replay: Makes links to captures; None if no replay is served beside the console.
    """

    fleet: Fleet
    poller: Poller
    readers: ReaderPool
    tasks: TaskBook
    clock: Clock
    hub: ViewerHub
    notices: NoticeBoard
    reach: ConsoleReach
    exports: asyncio.Semaphore
    replay: ReplayLink | None = None


class ActionParts(NamedTuple):
    """The parts that actions on jobs need.

    Attributes:
        common: The parts of all handlers.
        launcher: Starts jobs.
        quotas: Bytes that jobs may use.
    """

    common: Common
    launcher: Launcher
    quotas: DiskQuotaBook


class AccessParts(NamedTuple):
    """The parts for users, keys and logins.

    Attributes:
        users: Users with passwords.
        keys: Keys of links and programs.
        sessions: Sessions of browsers.
        logins: Exchanges passwords for sessions.
    """

    users: UserBook
    keys: KeyBook
    sessions: SessionBook
    logins: LoginDesk


class AdminParts(NamedTuple):
    """The parts of administration.

    Attributes:
        users: Users with passwords.
        keys: Keys of links and programs.
        sessions: Sessions of browsers.
        logins: Exchanges passwords for sessions.
        places: Places that admins added.
        quotas: Bytes that jobs may use.
        audit: The log of changes.
        webhooks: Webhooks, which a removed user has no longer.
    """

    users: UserBook
    keys: KeyBook
    sessions: SessionBook
    logins: LoginDesk
    places: PlaceBook
    quotas: DiskQuotaBook
    audit: AuditLog
    webhooks: WebhookBook


class HeaderParts(NamedTuple):
    """The parts whose alerts are shown in the header of a page.

    Attributes:
        quotas: Bytes that jobs may use.
        troubles: Problems of the console's background work.
    """

    quotas: DiskQuotaBook
    troubles: TroubleBoard


class JobParts(NamedTuple):
    """The parts of jobs.

    Attributes:
        actions: The parts of actions on jobs.
        books: What the console stores of jobs.
        troubles: Problems of the console's background work.
    """

    actions: ActionParts
    books: JobBooks
    troubles: TroubleBoard


class MonitorParts(NamedTuple):
    """The parts of the metrics.

    Attributes:
        times: Durations of requests.
        schedules: When runs begin.
    """

    times: RequestTimes
    schedules: ScheduleBook


class RunnerParts(NamedTuple):
    """The parts of background work.

    Attributes:
        common: The parts of all handlers.
        actions: The parts of actions on jobs.
        books: What the console stores of jobs.
        webhooks: Who is notified of events.
        troubles: Troubles of this work.
    """

    common: Common
    actions: ActionParts
    books: JobBooks
    webhooks: WebhookBook
    troubles: TroubleBoard


class StreamParts(NamedTuple):
    """The parts of live pages.

    Attributes:
        jobs: The parts of jobs.
        header: The parts of the header.
        access: The keys and sessions of viewers.
        standing: Whether another console has the places.
        tails: The last lines of logs.
    """

    jobs: JobParts
    header: HeaderParts
    access: AccessParts
    standing: ConsoleStanding
    tails: LogTails


class ConsoleParts(NamedTuple):
    """All parts of a console; each noun receives its own.

    Attributes:
        common: The parts of all handlers.
        books: What the console stores of jobs.
        access: Users, keys and sessions.
        launcher: Starts jobs.
        webhooks: Who is notified of events.
        places: Places that admins added.
        audit: The log of changes.
        standing: Whether this console may make changes, or another console holds its places.
        troubles: Problems of background work.
        tails: The last lines of logs.
        times: Durations of requests.
        repeats: Answers to requests that are done once.
    """

    common: Common
    books: JobBooks
    access: AccessParts
    launcher: Launcher
    webhooks: WebhookBook
    places: PlaceBook
    audit: AuditLog
    standing: ConsoleStanding
    troubles: TroubleBoard
    tails: LogTails
    times: RequestTimes
    repeats: RepeatBook

    @property
    def actions(self) -> ActionParts:
        """The parts of actions on jobs."""
        return ActionParts(self.common, self.launcher, self.books.quotas)

    @property
    def admin(self) -> AdminParts:
        """The parts of administration."""
        return AdminParts(*self.access, self.places, self.books.quotas, self.audit, self.webhooks)

    @property
    def header(self) -> HeaderParts:
        """The parts of the header."""
        return HeaderParts(self.books.quotas, self.troubles)

    @property
    def jobs(self) -> JobParts:
        """The parts of jobs."""
        return JobParts(self.actions, self.books, self.troubles)

    @property
    def monitor(self) -> MonitorParts:
        """The parts of the metrics."""
        return MonitorParts(self.times, self.books.schedules)

    @property
    def runners(self) -> RunnerParts:
        """The parts of background work."""
        return RunnerParts(self.common, self.actions, self.books, self.webhooks, self.troubles)

    @property
    def streams(self) -> StreamParts:
        """The parts of live pages."""
        return StreamParts(self.jobs, self.header, self.access, self.standing, self.tails)

    def replay_port(self, pages: str) -> ReplayPortParts:
        """The parts of replay beside the console.

        Args:
            pages: URL of the console's own pages, without a slash at its end.
        """
        common, labels = self.common, self.books.labels

        def title_of(job: FoundJob) -> str:
            return labels.of_path(str(job.layout.root)).name or job.name

        keys, sessions = self.access.keys, self.access.sessions
        return ReplayPortParts(common.clock, common.fleet, keys, sessions, title_of, pages)

    def port(self, keys: HeritrixKeyBook) -> PortParts:
        """The parts of Heritrix's port.

        Args:
            keys: The keys of the port.
        """
        common = self.common
        return PortParts(
            common.clock, common.fleet, common.poller, common.readers, common.reach, self.audit,
            self.standing, self.books.quotas, keys,
        )  # fmt: skip


def console_parts(
    options: ConsoleOptions,
    database: ConsoleDatabase,
    users: UserBook,
    clock: Clock,
    readers: ReaderPool,
) -> ConsoleParts:
    """Build the parts of a console from its options.

    Args:
        options: The options.
        database: The console's database.
        users: The users with passwords.
        clock: The time.
        readers: The processes that read the stores of jobs.
    """
    added = PlaceBook(database)
    places = added.beside(options.places)
    removals = RemovalBook(database)
    fleet = Fleet(places, removals)
    hub = ViewerHub()
    sessions = SessionBook(database, clock)
    poller = Poller(fleet, readers, database, clock, hub)
    common = Common(
        fleet=fleet, poller=poller, readers=readers, tasks=TaskBook(clock, hub.task_changed),
        clock=clock, hub=hub, notices=NoticeBoard(), reach=options.reach,
        exports=asyncio.Semaphore(EXPORTS),
    )  # fmt: skip
    list_changed = partial(hub.changed, JOBS)
    return ConsoleParts(
        common=common,
        books=JobBooks(
            labels=LabelBook(database),
            quotas=DiskQuotaBook(database, list_changed),
            muted_warnings=WantedKindBook(database),
            removals=removals,
            schedules=ScheduleBook(database, clock, list_changed),
        ),
        access=AccessParts(
            users=users,
            keys=KeyBook(database, clock),
            sessions=sessions,
            logins=LoginDesk(users, sessions, clock, PasswordChecker()),
        ),
        launcher=Launcher(fleet, poller, database, clock, options.max_running),
        webhooks=WebhookBook(database, clock),
        places=added,
        audit=AuditLog(options.folder, clock),
        standing=ConsoleStanding(),
        troubles=TroubleBoard(list_changed),
        tails=LogTails(hub, clock),
        times=RequestTimes(),
        repeats=RepeatBook(database, clock),
    )
