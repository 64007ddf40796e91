from nacre.core.crawluri import CrawlURI as CrawlURI
from nacre.core.processor import Visit as Visit
from nacre.errors import ConfigError as ConfigError
from nacre.errors import DamageError as DamageError
from nacre.errors import JobError as JobError
from nacre.errors import NacreError as NacreError
from nacre.errors import Problem as Problem
from nacre.errors import StorageError as StorageError
from nacre.errors import URIError as URIError
from nacre.job.asking import delete_urls as delete_urls
from nacre.job.asking import explain_url as explain_url
from nacre.job.asking import known_pages as known_pages
from nacre.job.asking import page_history as page_history
from nacre.job.asking import read_report as read_report
from nacre.job.asking import report_names as report_names
from nacre.job.asking import schedule_urls as schedule_urls
from nacre.job.asking import waiting_urls as waiting_urls
from nacre.job.configuration.settings import JobSettings as JobSettings
from nacre.job.events import Alert as Alert
from nacre.job.events import Captured as Captured
from nacre.job.events import Event as Event
from nacre.job.events import StateChanged as StateChanged
from nacre.job.explaining.explanation import Explanation as Explanation
from nacre.job.intake.edits import Imported as Imported
from nacre.job.job import Job as Job
from nacre.job.program import check_job as check_job
from nacre.job.program import new_job as new_job
from nacre.job.program import open_job as open_job
from nacre.job.program import recrawl_job as recrawl_job
from nacre.job.session import Session as Session
from nacre.job.states import ExitStatus as ExitStatus
from nacre.job.states import JobState as JobState

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
    "JobSettings",
    "JobState",
    "NacreError",
    "Problem",
    "Session",
    "StateChanged",
    "StorageError",
    "URIError",
    "Visit",
    "check_job",
    "delete_urls",
    "explain_url",
    "known_pages",
    "new_job",
    "open_job",
    "page_history",
    "read_report",
    "recrawl_job",
    "report_names",
    "schedule_urls",
    "waiting_urls",
]
