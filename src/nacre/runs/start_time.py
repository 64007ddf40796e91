"""The time at which a run may begin: the history of a job does not go back (pure)."""

from math import ceil

from nacre.core.clock import duration, iso

_SET_BACK = 60.0
"""A clock that is slow by more than this, seconds, was set back and not just corrected."""


def refusal(now: float, latest: float, job: str) -> str:
    """Return why a time of `--now` is refused; "" if it is not before the end of the last run.

    Args:
        now: The time, seconds since the epoch.
        latest: The end of the last run, seconds since the epoch; 0 if there is none.
        job: The directory of the job, for the message.
    """
    if now >= latest:
        return ""
    return (
        f"--now is {duration(latest - now)} before the end of the last run of {job}: its history "
        f"would go back in time. Use a time from {iso(ceil(latest))} on, or a new job"
    )


def set_back_warning(now: float, latest: float, job: str) -> str:
    """Return the warning that the machine's clock is before the last run; "" if it is not.

    Args:
        now: The time of the machine, seconds since the epoch.
        latest: See `refusal`.
        job: See `refusal`.
    """
    behind = latest - now
    if behind <= _SET_BACK:
        return ""
    return (
        f"the last run of {job} ended {duration(behind)} after the present: the machine's clock "
        "was set back, or the run had --now. Intervals between visits will be wrong; use --now "
        f"with a time from {iso(ceil(latest))} on"
    )
