"""Nutch's settings of when a page is fetched again, and when it counts as changed.

Bounds of hosts (`adaptive-host-specific-intervals.txt`) and intervals in the metadata of seeds
become sheets.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nacre.errors import URIError
from nacre.machine.local_files import read_ordinary
from nacre.uri.parse import parse
from nacre.uri.typed import take_login
from nacre_migrate.draft import Draft
from nacre_migrate.files import read_lines
from nacre_migrate.nutch.conf import Conf, Conversions
from nacre_migrate.nutch.properties import flag, whole
from nacre_migrate.nutch.seeds import SeedInterval
from nacre_migrate.nutch.urls import URLRules
from nacre_migrate.report import Conversion, FileNote, MigrationReport, defaulted, mapped, to_check

_CLASS = "db.fetch.schedule.class"
_MIME_FILE = "db.fetch.schedule.mime.file"
_RETRIES = "db.fetch.retry.max"
_KIND = "recrawl.schedule.kind"
_NUTCH = "recrawl.schedule.nutch."
_KINDS = {
    "DefaultFetchSchedule": "nutch-default",
    "AdaptiveFetchSchedule": "nutch-adaptive",
    "MimeAdaptiveFetchSchedule": "nutch-mime-adaptive",
}
_PLANNER = "`nacre recrawl` visits what is worth it; `nutch-default` is Nutch's"


_ADAPTIVE = "db.fetch.schedule.adaptive."
_TIMES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "db.fetch.interval.default": ("interval", float),
    "db.fetch.interval.max": ("interval_max", float),
    f"{_ADAPTIVE}inc_rate": ("inc_rate", float),
    f"{_ADAPTIVE}dec_rate": ("dec_rate", float),
    f"{_ADAPTIVE}min_interval": ("min_interval", float),
    f"{_ADAPTIVE}max_interval": ("max_interval", float),
    f"{_ADAPTIVE}sync_delta": ("sync_delta", flag),
    f"{_ADAPTIVE}sync_delta_rate": ("sync_delta_rate", float),
}
_SIGNATURE = "db.signature.class"
_SIGNATURES = {"MD5Signature": "md5", "TextProfileSignature": "text-profile"}
_PROFILE: dict[str, tuple[str, Callable[[str], Any]]] = {
    "db.signature.text_profile.min_token_len": ("min_token_len", whole),
    "db.signature.text_profile.quant_rate": ("quant_rate", float),
    "db.signature.text_profile.sec_sort_lex": ("sec_sort_lex", flag),
}


def map_schedule(
    conf: Conf, rules: URLRules, draft: Draft, *, seeds_say: bool = False
) -> Conversions:
    """Map schedule and signature, if the configuration has them.

    A stock configuration leaves both to Nacre: its planner, and its comparison by pieces.

    Args:
        conf: The configuration.
        rules: Copies the file of rates.
        draft: The new job.
        seeds_say: Lines of the seed list have intervals, for which Nutch's schedule is
            kept if it is the stock one, too.
    """
    return {**_schedule(conf, rules, draft, seeds_say=seeds_say), **_signature(conf, draft)}


def _schedule(conf: Conf, rules: URLRules, draft: Draft, *, seeds_say: bool) -> Conversions:
    name = conf.value(_CLASS).rpartition(".")[2]
    if name not in _KINDS:
        asked = f"{name} is none of Nutch's own; choose one in {_KIND}"
        return {_CLASS: to_check(asked, _KIND)}
    by = next((each for each in (_CLASS, *_TIMES) if not conf.is_stock(each)), "")
    if not by and not seeds_say:
        return {_CLASS: defaulted(_PLANNER, _KIND)}
    draft.put(_KIND, _KINDS[name], _reason(conf, by) if by else "nutch.fetchInterval of seeds")
    conversions = {_CLASS: mapped(_KIND)}
    for each, (field, convert) in _TIMES.items():
        conversions[each] = _put(conf, draft, each, _NUTCH + field, convert)
    if not conf.is_stock(_RETRIES) and conf.value(_RETRIES).isdecimal():
        draft.put(_NUTCH + "retry_max", max(1, int(conf.value(_RETRIES))), _reason(conf, _RETRIES))
    file = conf.value(_MIME_FILE)
    if name.startswith("Mime") and file:
        path = _NUTCH + "mime_file"
        if not rules.copy(file):
            return {**conversions, _MIME_FILE: to_check(f"{file} is not there", path)}
        draft.put(path, file, _reason(conf, _MIME_FILE))
        conversions[_MIME_FILE] = mapped(path)
    return conversions


def _signature(conf: Conf, draft: Draft) -> Conversions:
    path = "change.signature"
    if conf.is_stock(_SIGNATURE):
        return {_SIGNATURE: defaulted("pages are compared by their pieces; `md5` is Nutch's", path)}
    signature = _SIGNATURES.get(conf.value(_SIGNATURE).rpartition(".")[2])
    if signature is None:
        return {_SIGNATURE: to_check("none of Nutch's own", path)}
    draft.put(path, signature, _reason(conf, _SIGNATURE))
    note = "it does not see Chinese text change; text-profile-cjk does"
    conversions = {_SIGNATURE: mapped(path, note if signature == "text-profile" else "")}
    for each, (field, convert) in _PROFILE.items():
        if conf.winner(each) is not None:
            conversions[each] = _put(conf, draft, each, f"change.text_profile.{field}", convert)
    return conversions


def _put(
    conf: Conf, draft: Draft, name: str, path: str, convert: Callable[[str], Any]
) -> Conversion:
    if conf.is_stock(name):
        return defaulted("its stock value", path)
    try:
        draft.put(path, convert(conf.value(name)), _reason(conf, name))
    except ValueError as error:
        return to_check(f"cannot be read: {error}", path)
    return mapped(path)


def _reason(conf: Conf, name: str) -> str:
    prop = conf.winner(name)
    return f"{name}, {prop.file}:{prop.line}" if prop else name


FILE = "adaptive-host-specific-intervals.txt"

_FIELDS = ("min_interval", "max_interval")
_MAX_BYTES = 64_000_000
_DEFAULT = frozenset(("default", "0"))


class IntervalBounds(NamedTuple):
    """One line: a host, and its shortest and longest interval."""

    host: str
    values: dict[str, float]


def map_host_intervals(conf: Conf, draft: Draft, report: MigrationReport) -> None:
    """Make a sheet of each pair of bounds, and associate it with its hosts.

    Args:
        conf: The configuration.
        draft: The new job.
        report: Notes the outcome of the file.
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
    text = f"bounds of {sum(map(len, hosts.values()))} hosts became sheets"
    if unread:
        text += f"; lines that are not `HOST MIN MAX`: {', '.join(unread)}"
    report.files.append(FileNote(FILE, text, check=bool(unread)))


def _name(values: dict[str, float]) -> str:
    """`min60-max86400`; the name of a sheet holds no dot."""
    parts = (
        f"{path.removeprefix(_NUTCH).partition('_')[0]}{value:.10g}"
        for path, value in values.items()
    )
    return "-".join(parts).replace(".", "_")


def _bounds(line: str) -> IntervalBounds | None:
    try:
        host, *bounds = line.split()
        values = {
            _NUTCH + field: float(text)
            for field, text in zip(_FIELDS, bounds, strict=True)
            if text.lower() not in _DEFAULT
        }
    except ValueError:
        return None
    right = "/" not in host and all(0.0 < value < float("inf") for value in values.values())
    return IntervalBounds(host.lower(), values) if right else None


_MOST = 5_000
"""Largest number of URLs with intervals; each is an expression in crawl.yaml."""
_SOURCE = "nutch.fetchInterval"


def map_seed_intervals(
    intervals: Mapping[str, SeedInterval], draft: Draft, report: MigrationReport
) -> None:
    """Make a sheet of each interval, and associate it with the URLs that have it, and no others.

    Args:
        intervals: Intervals by URL as written in the seed list.
        draft: The new job, its schedule included.
        report: Notes their outcome.
    """
    if not intervals:
        return
    kind = str(draft.settings.get(_KIND, ""))
    text = f"intervals of seeds ({len(intervals)}) "
    if not kind.startswith("nutch-"):
        note = f"{text}left out: they need one of Nutch's schedules in {_KIND}"
        report.files.append(FileNote(_SOURCE, note, check=True))
        return
    if len(intervals) > _MOST:
        note = (
            f"{text}left out: more than {_MOST} are too many for sheets; make sheets of whole hosts"
        )
        report.files.append(FileNote(_SOURCE, note, check=True))
        return
    sheets: dict[str, dict[str, float]] = {}
    expressions: dict[str, list[str]] = {}
    unread = 0
    for url, interval in intervals.items():
        try:
            expression = re.escape(take_login(parse(url))[0])
        except URIError:
            unread += 1
            continue
        keeps = interval.fixed and kind != "nutch-default"
        name = f"{'fixed' if keeps else 'interval'}{interval.seconds}"
        setting = f"{_NUTCH}{'fixed_interval' if keeps else 'interval'}"
        sheets[name] = {setting: float(interval.seconds)}
        expressions.setdefault(name, []).append(expression)
    _put_sheets(draft, sheets, expressions)
    note = f"{text}became sheets"
    if unread:
        note += f", except {unread} that are not URLs"
    report.files.append(FileNote(_SOURCE, note, check=bool(unread)))


def _put_sheets(
    draft: Draft, sheets: dict[str, dict[str, float]], expressions: dict[str, list[str]]
) -> None:
    if not sheets:
        return
    by_sheet = [
        {"rule": {"rule": "matches-list-regex", "regexes": regexes}, "sheets": [name]}
        for name, regexes in expressions.items()
    ]
    draft.put("sheets", {**draft.settings.get("sheets", {}), **sheets}, _SOURCE)
    before = draft.settings.get("sheet_associations", [])
    draft.put("sheet_associations", [*before, *by_sheet], _SOURCE)
