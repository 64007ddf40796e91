"""Task of reader processes for the calendar: pages that become due, and hours with other limits."""

from collections.abc import Mapping
from typing import Any, Final

from nacre.console.readers.views import CLOCK, VIEWS
from nacre.core.clock import iso
from nacre.core.message_data import to_builtins
from nacre.inspect.explain.next_visits import NextVisits
from nacre.settings.load import load_job
from nacre.store.layout import Layout

MOST_DUE: Final = 1_000
"""Pages that are counted by day, the first that become due."""
_SHOWN: Final = 20


def upcoming(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The pages of a job that become due next, and its windows of bandwidth.

    Args:
        layout: The job.
        arguments: `running`: a process works on it.

    Returns:
        `due`: the first pages with `time` (RFC 3339), `url` and `why`; `days`: how many of the
        first thousand become due on a day of UTC; `cut`: there may be more; `windows`: each with
        `days`, `hours` and `limits`; `zone` of the windows; `total`, `per_host`: limits outside
        of them, B/s, 0 for none.
    """
    band = load_job(layout).settings.bandwidth
    facts: dict[str, Any] = {
        "due": [], "days": {}, "cut": False, "zone": band.time_zone, "total": band.total,
        "per_host": band.per_host,
        "windows": [
            {
                "days": window.days, "hours": window.hours,
                "limits": {
                    name: getattr(window, name)
                    for name in ("total", "per_host", "parallel", "min_delay")
                    if getattr(window, name) is not None
                },
            }
            for window in band.windows
        ],
    }  # fmt: skip
    if not layout.has_store:
        return facts
    with VIEWS.looking(layout, float(arguments.get("since", 0.0))) as view:
        looked = view.view(running=bool(arguments.get("running")))
        # A page that waits for it asks again.
        found = view.once("upcoming", lambda: NextVisits(looked, CLOCK.now()).first(MOST_DUE))
    for one in found:
        day = iso(one.time)[:10]
        facts["days"][day] = facts["days"].get(day, 0) + 1
    facts["due"] = [{**one._asdict(), "time": iso(one.time)} for one in found[:_SHOWN]]
    facts["cut"] = len(found) == MOST_DUE
    return dict(to_builtins(facts))
