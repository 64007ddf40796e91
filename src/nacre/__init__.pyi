from nacre.core.crawluri import CrawlURI as CrawlURI
from nacre.core.events import Alert as Alert
from nacre.core.events import Captured as Captured
from nacre.core.events import Event as Event
from nacre.core.events import StateChanged as StateChanged
from nacre.core.processor import Visit as Visit
from nacre.core.states import ExitStatus as ExitStatus
from nacre.core.states import JobState as JobState
from nacre.errors import ConfigError as ConfigError
from nacre.errors import DamageError as DamageError
from nacre.errors import JobError as JobError
from nacre.errors import NacreError as NacreError
from nacre.errors import Problem as Problem
from nacre.errors import StorageError as StorageError
from nacre.errors import URIError as URIError
from nacre.inspect.explain.answers import Explanation as Explanation
from nacre.job.api import check_job as check_job
from nacre.job.api import delete_urls as delete_urls
from nacre.job.api import explain_url as explain_url
from nacre.job.api import known_pages as known_pages
from nacre.job.api import new_job as new_job
from nacre.job.api import open_job as open_job
from nacre.job.api import page_history as page_history
from nacre.job.api import read_report as read_report
from nacre.job.api import recrawl_job as recrawl_job
from nacre.job.api import report_names as report_names
from nacre.job.api import schedule_urls as schedule_urls
from nacre.job.api import waiting_urls as waiting_urls
from nacre.job.frontier_edits import Imported as Imported
from nacre.job.job import Job as Job
from nacre.job.session import Session as Session
from nacre.ops.handles import JobHandle as JobHandle
from nacre.ops.handles import RoundsHandle as RoundsHandle
from nacre.ops.handles import new as new
from nacre.ops.handles import open as open  # noqa: A004 - `nacre.open`
from nacre.ops.handles import rounds as rounds
from nacre.settings.settings import JobSettings as JobSettings

__version__: str

__all__ = [
    "Alert",
    "Captured",
    "ConfigError",
    "CrawlURI",
    "DamageError",
    "Event",
    "ExitStatus",
    "Explanation",
    "Imported",
    "Job",
    "JobError",
    "JobHandle",
    "JobSettings",
    "JobState",
    "NacreError",
    "Problem",
    "RoundsHandle",
    "Session",
    "StateChanged",
    "StorageError",
    "URIError",
    "Visit",
    "check_job",
    "delete_urls",
    "explain_url",
    "known_pages",
    "new",
    "new_job",
    "open",
    "open_job",
    "page_history",
    "read_report",
    "recrawl_job",
    "report_names",
    "rounds",
    "schedule_urls",
    "waiting_urls",
]
