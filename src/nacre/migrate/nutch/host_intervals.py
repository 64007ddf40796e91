"""`adaptive-host-specific-intervals.txt`: bounds of hosts become sheets."""

from typing import NamedTuple

from nacre.config.ordinary import read_ordinary
from nacre.migrate.draft import Draft
from nacre.migrate.nutch.conf import Conf
from nacre.migrate.report import FileNote, Report
from nacre.migrate.texts import read_lines

FILE = "adaptive-host-specific-intervals.txt"
_NUTCH = "recrawl.schedule.nutch."
_FIELDS = ("min_interval", "max_interval")
_MAX_BYTES = 64_000_000
_DEFAULT = frozenset(("default", "0"))


class Bounds(NamedTuple):
    """One line: a host, and what it says of the shortest and the longest interval."""

    host: str
    values: dict[str, float]


def map_host_intervals(conf: Conf, draft: Draft, report: Report) -> None:
    """Make a sheet of each pair of bounds, and associate it with its hosts.

    Args:
        conf: The configuration.
        draft: The new job.
        report: Notes what became of the file.
    """
    path = conf.path(FILE)
    if path is None:
        return
    sheets: dict[str, dict[str, float]] = {}
    hosts: dict[str, list[str]] = {}
    unread: list[str] = []
    lines, _ = read_lines(read_ordinary(path, _MAX_BYTES))
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        bounds = _bounds(line)
        if bounds is None:
            unread.append(str(number))
        elif bounds.values:
            name = _name(bounds.values)
            sheets[name] = bounds.values
            hosts.setdefault(name, []).append(f"http://{bounds.host}/")
    if sheets:
        draft.put("sheets", sheets, FILE)
        by_sheet = [{"surts": surts, "sheets": [name]} for name, surts in hosts.items()]
        draft.put("sheet_associations", by_sheet, FILE)
    what = f"bounds of {sum(map(len, hosts.values()))} hosts became sheets"
    if unread:
        what += f"; lines that are no `HOST MIN MAX`: {', '.join(unread)}"
    report.files.append(FileNote(FILE, what, check=bool(unread)))


def _name(values: dict[str, float]) -> str:
    """`min60-max86400`; the name of a sheet holds no dot."""
    parts = (
        f"{path.removeprefix(_NUTCH).partition('_')[0]}{value:.10g}"
        for path, value in values.items()
    )
    return "-".join(parts).replace(".", "_")


def _bounds(line: str) -> Bounds | None:
    try:
        host, *said = line.split()
        values = {
            _NUTCH + field: float(text)
            for field, text in zip(_FIELDS, said, strict=True)
            if text.lower() not in _DEFAULT
        }
    except ValueError:
        return None
    right = "/" not in host and all(0.0 < value < float("inf") for value in values.values())
    return Bounds(host.lower(), values) if right else None
