"""The parts of a console that answer requests."""

from typing import NamedTuple

from nacre.console.logs.tails import LogTails
from nacre.console.metrics import RequestTimes
from nacre.core.clock import Clock
from nacre.fleet.audit import AuditLog
from nacre.fleet.job_books import DiskQuotaBook, LabelBook, WantedKindBook
from nacre.fleet.keys import KeyBook
from nacre.fleet.launch import Launcher
from nacre.fleet.passwords import LoginDesk
from nacre.fleet.place_book import PlaceBook
from nacre.fleet.places import Fleet, RemovalBook
from nacre.fleet.reach import ConsoleReach
from nacre.fleet.schedule_book import ScheduleBook
from nacre.fleet.sessions import SessionBook
from nacre.fleet.standing import ConsoleStanding
from nacre.fleet.users import UserBook
from nacre.fleet.webhook_book import WebhookBook
from nacre.web.live.hub import NoticeBoard, ViewerHub
from nacre.web.live.poller import Poller
from nacre.web.repeats import RepeatBook
from nacre.web.supervision import TroubleBoard
from nacre.web.workers.background import TaskBook
from nacre.web.workers.pool import ReaderPool


class ConsoleServices(NamedTuple):
    """The parts that handlers ask; only `parts.py` makes them.

    Attributes:
        fleet: The jobs that were found.
        poller: What is known of them now.
        readers: The processes that read their stores.
        tasks: What goes on in the background.
        keys: Keys of links and programs.
        sessions: Sessions of browsers.
        clock: The time.
        audit: The log of what was changed, and by whom.
        hub: It tells viewers what changed.
        launcher: It starts jobs.
        labels: Names and tags of jobs.
        removals: Jobs that were removed from the console.
        wanted: Kinds of URLs of which no banner warns.
        notices: What came of forms that were sent.
        schedules: When runs begin.
        quotas: Bytes that jobs may use.
        webhooks: Who is notified of what happens.
        repeats: Answers to requests that are done once.
        tails: The last lines of logs.
        users: Users with passwords.
        logins: Exchanges passwords for sessions.
        places: Places that admins added.
        times: Durations of requests.
        standing: Whether this console may change things, or another one has its places.
        troubles: What is the matter with the work that goes on beside the answers.
        reach: Who can connect to the console.
    """

    fleet: Fleet
    poller: Poller
    readers: ReaderPool
    tasks: TaskBook
    keys: KeyBook
    sessions: SessionBook
    clock: Clock
    audit: AuditLog
    hub: ViewerHub
    launcher: Launcher
    labels: LabelBook
    removals: RemovalBook
    wanted: WantedKindBook
    notices: NoticeBoard
    schedules: ScheduleBook
    quotas: DiskQuotaBook
    webhooks: WebhookBook
    repeats: RepeatBook
    tails: LogTails
    users: UserBook
    logins: LoginDesk
    places: PlaceBook
    times: RequestTimes
    standing: ConsoleStanding
    troubles: TroubleBoard
    reach: ConsoleReach = ConsoleReach()
