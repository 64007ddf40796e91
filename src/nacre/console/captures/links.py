"""Links of captures to replay, comparison and citation."""

from urllib.parse import quote, urlencode

from nacre.console.call import Call
from nacre.console.links import job_path
from nacre.fleet.places import FoundJob


def replay_link(call: Call, job: FoundJob, timestamp: str, url: str) -> str:
    """Return the link that leads to a capture in replay; "" if the console has no replay.

    The link makes a ticket when it is followed (`results.pages.lead_to_replay`).

    Args:
        call: The request.
        job: The job.
        timestamp: When it was captured, RFC 3339 or 14 digits.
        url: Its URL.
    """
    if call.common.replay is None:
        return ""
    digits = "".join(char for char in timestamp if char.isdigit())[:14]
    return f"{job_path(job.id)}/replay?{urlencode({'u': url, 't': digits})}"


def capture_link(job: str, capture: str) -> str:
    """Return the link to the page of a capture (pure).

    Args:
        job: Id of the job.
        capture: Id of the capture.
    """
    return f"{job_path(job)}/captures/{quote(capture, safe='')}"


def captures_link(job: str, url: str) -> str:
    """Return the link to the captures of a URL (pure).

    Args:
        job: Id of the job.
        url: The URL.
    """
    return f"{job_path(job)}/captures?{urlencode({'q': url})}"
