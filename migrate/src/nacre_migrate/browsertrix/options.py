"""Options of Browsertrix that are one setting, or none.

A row of `options.toml` has one of the forms

- `{to = "SETTING", as = "CONVERTER", stock = "TEXT", note = "TEXT"}`: it becomes the setting.
  `stock` is Browsertrix's own default, with which nothing is written.
- `{needless = "WHY"}`: the job needs nothing for it.
- `{missing = "WHY", stock = "TEXT"}`: there is no equivalent.
- `{check = "WHY", stock = "TEXT"}`: the operator has to check it.

The others (`SPECIAL`) have functions of their own.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from nacre.fetch.settings import FetchSettings
from nacre_migrate.draft import Draft
from nacre_migrate.files import read_table
from nacre_migrate.report import Conversion, defaulted, mapped, missing, to_check

_TABLES = read_table(__package__, "options.toml")
ALIASES: Final[Mapping[str, str]] = _TABLES["aliases"]
"""Other names of options."""
_OPTIONS: Final[Mapping[str, Mapping[str, str]]] = _TABLES["options"]
_CONTACT: Final = re.compile(r"https?://[^\s,;)]+|[^\s,;(<]+@[^\s,;)>]+\.[^\s,;)>]+")


def text_of(value: object) -> str:
    """The value of an option as text, such as `true` or `a, b`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(map(text_of, value))
    return "" if value is None else str(value)


def listed(value: object) -> list[Any]:
    """The members of a value that is a list, or a text with commas."""
    if isinstance(value, list):
        return [part for item in value for part in (listed(item) if _is_text(item) else [item])]
    return [part for part in (part.strip() for part in text_of(value).split(",")) if part]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _number(value: object) -> float | int:
    number = float(text_of(value))
    return int(number) if number.is_integer() else number


def _positive(value: object) -> float | int | None:
    """A number over 0; None for another, which means no limit."""
    number = _number(value)
    return number if number > 0 else None


def _robots(value: object) -> str:
    return "obey" if is_on(value) else "ignore"


def is_on(value: object) -> bool:
    """Whether a switch is on."""
    return text_of(value).lower() in {"true", "yes", "on", "1"}


_CONVERTERS: Final[Mapping[str, Callable[[object], Any]]] = {
    "text": text_of,
    "number": _number,
    "positive": _positive,
    "device": lambda value: text_of(value).replace("-", " "),
    "robots": _robots,
}


def map_option(draft: Draft, name: str, value: object, place: str) -> Conversion:
    """Map an option that no seed and no scope depends on.

    Args:
        draft: Receives the setting.
        name: Name of the option, no alias.
        value: Its value.
        place: File and line, for the comment in the job.
    """
    special = SPECIAL.get(name)
    if special is not None:
        return special(draft, value, place)
    row = _OPTIONS.get(name)
    if row is None:
        return to_check("not an option that is known here")
    if value is None or text_of(value) in {"", row.get("stock")}:
        return defaulted("the default of Browsertrix", row.get("to", ""))
    for flagged, outcome in (("missing", missing), ("check", to_check), ("needless", defaulted)):
        if flagged in row:
            return outcome(row[flagged])
    return _put(draft, row, value, place)


def _put(draft: Draft, row: Mapping[str, str], value: object, place: str) -> Conversion:
    try:
        converted = _CONVERTERS[row["as"]](value)
    except ValueError:
        return to_check("not a number", row["to"])
    if converted is None:
        return defaulted("no limit", row["to"])
    draft.put(row["to"], converted, place)
    return mapped(row["to"], row.get("note", ""))


_BEHAVIOURS: Final[Mapping[str, Sequence[str]]] = {
    "autoscroll": ("tall", "scroll"),
    "autofetch": ("lazy",),
    "autoclick": ("more",),
    "autoplay": ("media",),
}


def _behaviours(draft: Draft, value: object, place: str) -> Conversion:
    path, names = "browser.behaviours", listed(value)
    chosen = [b for name, group in _BEHAVIOURS.items() if name in names for b in group]
    draft.put(path, chosen, place)
    notes = []
    if "autoclick" in names:
        notes.append("`more` presses buttons that show more, not every link")
    if "siteSpecific" in names:
        notes.append("behaviours of single sites are scripts of yours (`browser.scripts`)")
    unknown = [str(name) for name in names if name not in {*_BEHAVIOURS, "siteSpecific"}]
    if unknown:
        notes.append(f"not known: {', '.join(unknown)}")
    return to_check("; ".join(notes), path) if notes else mapped(path)


_PICTURES: Final = {
    "view": "view",
    "thumbnail": "thumbnail",
    "fullPage": "fullPage",
    "fullPageFinal": "fullPage",
}


def _pictures(draft: Draft, value: object, place: str) -> Conversion:
    path, names = "browser.pictures", listed(value)
    unknown = [str(name) for name in names if name not in _PICTURES]
    draft.put(path, list(dict.fromkeys(_PICTURES[n] for n in names if n in _PICTURES)), place)
    if unknown:
        return to_check(f"not known: {', '.join(unknown)}", path)
    return mapped(path, "pictures are taken when the page has ended")


def _text(draft: Draft, value: object, place: str) -> Conversion:
    names = [name for name in map(text_of, listed(value)) if name != "false"]
    draft.put("browser.store_text", bool(names), place)
    return mapped("browser.store_text", "the text of the final page, in `urn:text:` records")


def _blocked(draft: Draft, value: object, place: str) -> Conversion:
    path, rules = "browser.block", value if isinstance(value, list) else [value]
    patterns: list[str] = []
    lost = 0
    for rule in rules:
        pattern = _pattern({"url": rule} if isinstance(rule, str) else rule)
        if pattern:
            patterns.append(pattern)
        else:
            lost += 1
    if patterns:
        draft.put(path, patterns, place)
    if lost:
        note = "rules for single frames, and `allowOnly`, have no equivalent"
        return to_check(f"{lost} left out: {note}", path) if patterns else missing(note)
    return mapped(path) if patterns else defaulted("empty", path)


def _pattern(rule: object) -> str:
    """The pattern of a rule that blocks a URL in all frames; "" for another rule."""
    if not isinstance(rule, Mapping) or not rule.get("url") or rule.keys() - {"url", "type"}:
        return ""
    return f"/{rule['url']}/" if rule.get("type", "block") == "block" else ""


def _suffix(draft: Draft, value: object, place: str) -> Conversion:
    address = _CONTACT.search(text_of(value))
    if address is None:
        return to_check("the user agent has Nacre's name and the contact (`fetch.contact`)")
    draft.put("fetch.contact", address[0].lstrip("+"), place)
    return mapped("fetch.contact", "it is in the user agent, with Nacre's name")


def _language(draft: Draft, value: object, place: str) -> Conversion:
    if not text_of(value):
        return defaulted("empty", "fetch.accept")
    line = f"Accept-Language: {text_of(value)}"
    draft.put("fetch.accept", [*FetchSettings().accept, line], place)
    return mapped("fetch.accept")


def _proxy(draft: Draft, value: object, place: str) -> Conversion:
    url = text_of(value)
    if not url:
        return defaulted("empty", "fetch.proxy")
    if url.startswith("ssh://"):
        return missing("there is no proxy over SSH")
    if "@" in url:
        return to_check("not copied: write name and password into fetch.proxy", "fetch.proxy")
    draft.put("fetch.proxy", url, place)
    return mapped("fetch.proxy")


def _warc_info(draft: Draft, value: object, place: str) -> Conversion:
    fields = value if isinstance(value, Mapping) else {}
    paths = {name: f"archive.{name}" for name in ("operator", "publisher", "description")}
    for name in paths.keys() & fields.keys():
        draft.put(paths[name], text_of(fields[name]), place)
    target = ", ".join(path for name, path in paths.items() if name in fields)
    lost = sorted(map(str, fields.keys() - paths.keys()))
    if lost:
        return to_check(f"not written to warcinfo: {', '.join(lost)}", target)
    return mapped(target) if target else defaulted("empty")


def _sitemap(draft: Draft, value: object, place: str) -> Conversion:
    path = "extract.extract_sitemaps"
    if isinstance(value, str) and value.startswith(("http://", "https://")):
        return to_check("sitemaps that robots.txt names are read, and no others", path)
    if is_on(value):
        return defaulted("sitemaps that robots.txt names are read", path)
    draft.put(path, value=False, reason=place)
    return mapped(path)


SPECIAL: Final[Mapping[str, Callable[[Draft, object, str], Conversion]]] = {
    "behaviors": _behaviours,
    "screenshot": _pictures,
    "text": _text,
    "blockRules": _blocked,
    "userAgentSuffix": _suffix,
    "lang": _language,
    "proxyServer": _proxy,
    "warcInfo": _warc_info,
    "useSitemap": _sitemap,
}
"""Options that take more than a row, by name."""
