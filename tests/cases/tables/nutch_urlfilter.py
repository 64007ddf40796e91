"""Nutch's URL filters, but for the regex filter, which has a folder of its own."""

from nacre.scope.nutch.filters import FilterKind, make_filter
from nacre.scope.nutch.regexes import Limits, RuleSource, lines_of
from tests.cases.table import Row, Table, json_lines

_KINDS = {"domaindenylist": FilterKind.DOMAIN_DENYLIST}
_LIMITS = {
    "urlfilter.fast.url.max.length": "max_length",
    "urlfilter.fast.url.path.max.length": "max_path_length",
    "urlfilter.fast.url.query.max.length": "max_query_length",
}


def _check(row: Row) -> str | None:
    name, config = row["filter"], row.get("conf", {})
    limits = Limits(**{_LIMITS[key]: value for key, value in config.items() if key in _LIMITS})
    text = row["rules"]
    if name == "suffix":
        # The test sets the mode by calls; a file says it in a line.
        sign = "+" if config.get("modeAccept") else "-"
        flags = "I" * config.get("ignoreCase", False) + "P" * config.get("filterFromPath", False)
        text += f"\n{sign}{flags}\n"
    kind = _KINDS.get(name) or FilterKind(name)
    ruling = make_filter(kind, RuleSource(lines_of(text)), limits).judge(row["input"])
    return None if ruling.passes is row["accepted"] else f"{ruling}"


TABLE = Table("nutch_urlfilter", json_lines("nutch_urlfilter.jsonl"), _check)
