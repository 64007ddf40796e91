"""The parts of a console, made of its options."""

from functools import partial

from nacre.console.logs.tails import LogTails
from nacre.console.metrics import RequestTimes
from nacre.console.reader_tasks import READER_TASKS
from nacre.console.services import ConsoleServices
from nacre.core.clock import Clock
from nacre.fleet.audit import AuditLog
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.heritrix_keys import HeritrixKeyBook
from nacre.fleet.job_books import DiskQuotaBook, LabelBook, WantedKindBook
from nacre.fleet.keys import KeyBook
from nacre.fleet.launch import Launcher
from nacre.fleet.passwords import LoginDesk, PasswordChecker
from nacre.fleet.place_book import PlaceBook
from nacre.fleet.places import Fleet, RemovalBook
from nacre.fleet.reach import ConsoleOptions
from nacre.fleet.schedule_book import ScheduleBook
from nacre.fleet.sessions import SessionBook
from nacre.fleet.standing import ConsoleStanding
from nacre.fleet.users import UserBook
from nacre.fleet.webhook_book import WebhookBook
from nacre.web.live.hub import JOBS, NoticeBoard, ViewerHub
from nacre.web.live.poller import Poller
from nacre.web.port import PortParts
from nacre.web.repeats import RepeatBook
from nacre.web.supervision import TroubleBoard
from nacre.web.workers.background import TaskBook
from nacre.web.workers.pool import ReaderPool


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
    fleet, readers = Fleet(places, removals), ReaderPool(READER_TASKS)
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


def port_parts(services: ConsoleServices, keys: HeritrixKeyBook) -> PortParts:
    """Return the parts of a console that Heritrix's port uses.

    Args:
        services: The parts of the console.
        keys: The keys of the port.
    """
    return PortParts(
        services.clock, services.fleet, services.poller, services.readers, services.reach,
        services.audit, services.standing, services.quotas, keys,
    )  # fmt: skip
