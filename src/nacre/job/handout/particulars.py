"""What every report says of itself under its title: job, site, period."""

from itertools import islice

from nacre.job.offline import View
from nacre.job.runs.newrun import runs
from nacre.job.seeding.seedbook import seed_rows
from nacre.report.forms import moment
from nacre.wire.urltext import readable_url

_SITES = 3


def particulars(view: View) -> tuple[tuple[str, str], ...]:
    """Names and values; the period is that of all runs, UTC."""
    rows = [row for row in runs(view.store) if not row.fresh]
    first = [readable_url(seed.url) for seed in islice(seed_rows(view.store), _SITES)]
    number = sum(not seed.redirect_from for seed in seed_rows(view.store))
    more = f" and {number - len(first):,} more" if number > len(first) else ""
    about = [
        ("Job", view.settings.name or view.layout.root.name),
        ("Site" if number == 1 else "Sites", ", ".join(first) + more or "none"),
    ]
    if rows:
        ended = moment(rows[-1].ended) if rows[-1].ended else "now, not over yet"
        number = len(rows)
        counted = f"{number} runs" if number > 1 else "one run"
        about.append(("Period", f"{moment(rows[0].started)} to {ended} UTC ({counted})"))
    return tuple(about)
