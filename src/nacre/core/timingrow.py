"""When a page under a schedule is due: what the schedule keeps of it."""

import msgspec


class TimingRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One page under a schedule; survives runs. Times are seconds since the epoch, UTC.

    Attributes:
        url: The page.
        kind: The schedule that wrote this; another one begins anew.
        visited: The last visit taken in; what lies before it is known already.
        interval: Time between visits, s.
        due: When it is due next; infinity for never.
        modified: When it changed last, as Nutch has it; 0 when unknown.
        retries: Failures in a row.
        signed: There is a version to compare the next one with.
        mime: Its media type at the last visit that had one.
    """

    url: str
    kind: str
    visited: float
    interval: float
    due: float
    modified: float = 0.0
    retries: int = 0
    signed: bool = True
    mime: str = ""
