"""The next pass of a crawl that never ends, as it is noted when the last one was over."""

from typing import NamedTuple

import msgspec

from nacre.job.runrow import RunRow
from nacre.job.runs.runs import is_over, read_run
from nacre.store.store import Store

_KEY = b"next pass"


class _Noted(msgspec.Struct, frozen=True):
    """The next pass, as seen when a run was over: its number, and the pass."""

    run: int
    time: float
    why: str


class Following(NamedTuple):
    """The next pass.

    Attributes:
        time: When it begins, seconds since the epoch.
        why: Why then; "" where that was asked for.
    """

    time: float
    why: str = ""


def note_pass(store: Store, last: RunRow, following: Following) -> None:
    """Note when the next pass begins, for `nacre status`; `last` is the run that is over."""
    noted = _Noted(last.number, following.time, following.why)
    store.put("meta", _KEY, msgspec.msgpack.encode(noted))


def next_pass(store: Store) -> Following | None:
    """The next pass of a crawl that never ends, as noted when the last was over; None for none."""
    row, last = store.get("meta", _KEY), read_run(store)
    if row is None or last is None or not is_over(last):
        return None
    noted = msgspec.msgpack.decode(row, type=_Noted)
    return Following(noted.time, noted.why) if noted.run == last.number else None
