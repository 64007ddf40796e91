from nacre.core.processor import Visit as Visit
from nacre.errors import ConfigError as ConfigError
from nacre.errors import DamageError as DamageError
from nacre.errors import JobError as JobError
from nacre.errors import NacreError as NacreError
from nacre.errors import Problem as Problem
from nacre.errors import StorageError as StorageError
from nacre.errors import URIError as URIError
from nacre.job.configuration.settings import JobSettings as JobSettings
from nacre.job.events import Alert as Alert
from nacre.job.events import Captured as Captured
from nacre.job.events import Event as Event
from nacre.job.events import StateChanged as StateChanged
from nacre.job.job import Job as Job
from nacre.job.program import check_job as check_job
from nacre.job.program import new_job as new_job
from nacre.job.program import open_job as open_job
from nacre.job.session import Session as Session
from nacre.job.states import ExitStatus as ExitStatus
from nacre.job.states import JobState as JobState

__version__: str

__all__ = [
    "Alert",
    "Captured",
    "ConfigError",
    "DamageError",
    "Event",
    "ExitStatus",
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
    "new_job",
    "open_job",
]
