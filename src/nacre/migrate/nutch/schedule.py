"""Properties that say when Nutch fetches a page again, and how it knows that one changed."""

from collections.abc import Callable
from typing import Any

from nacre.migrate.draft import Draft
from nacre.migrate.nutch.conf import Conf
from nacre.migrate.nutch.fate import Fate, Fates, defaulted, mapped, to_check
from nacre.migrate.nutch.urls import URLRules
from nacre.migrate.nutch.values import flag, whole

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


def map_schedule(conf: Conf, rules: URLRules, draft: Draft, *, seeds_say: bool = False) -> Fates:
    """Map schedule and signature, where the configuration says anything of them.

    A stock configuration leaves both to Nacre: its planner, and its comparison by pieces.

    Args:
        conf: The configuration.
        rules: Copies the file of rates.
        draft: The new job.
        seeds_say: Lines of the seed list have intervals of their own, for which Nutch's schedule is
            kept where it is the stock one too.
    """
    return {**_schedule(conf, rules, draft, seeds_say=seeds_say), **_signature(conf, draft)}


def _schedule(conf: Conf, rules: URLRules, draft: Draft, *, seeds_say: bool) -> Fates:
    name = conf.value(_CLASS).rpartition(".")[2]
    if name not in _KINDS:
        asked = f"{name} is none of Nutch's own; choose one in {_KIND}"
        return {_CLASS: to_check(asked, _KIND)}
    by = next((each for each in (_CLASS, *_TIMES) if not conf.is_stock(each)), "")
    if not by and not seeds_say:
        return {_CLASS: defaulted(_PLANNER, _KIND)}
    draft.put(_KIND, _KINDS[name], _reason(conf, by) if by else "nutch.fetchInterval of seeds")
    fates = {_CLASS: mapped(_KIND)}
    for each, (field, convert) in _TIMES.items():
        fates[each] = _put(conf, draft, each, _NUTCH + field, convert)
    if not conf.is_stock(_RETRIES) and conf.value(_RETRIES).isdecimal():
        draft.put(_NUTCH + "retry_max", max(1, int(conf.value(_RETRIES))), _reason(conf, _RETRIES))
    file = conf.value(_MIME_FILE)
    if name.startswith("Mime") and file:
        path = _NUTCH + "mime_file"
        if not rules.copy(file):
            return {**fates, _MIME_FILE: to_check(f"{file} is not there", path)}
        draft.put(path, file, _reason(conf, _MIME_FILE))
        fates[_MIME_FILE] = mapped(path)
    return fates


def _signature(conf: Conf, draft: Draft) -> Fates:
    path = "change.signature"
    if conf.is_stock(_SIGNATURE):
        return {_SIGNATURE: defaulted("pages are compared by their pieces; `md5` is Nutch's", path)}
    ours = _SIGNATURES.get(conf.value(_SIGNATURE).rpartition(".")[2])
    if ours is None:
        return {_SIGNATURE: to_check("none of Nutch's own", path)}
    draft.put(path, ours, _reason(conf, _SIGNATURE))
    note = "it does not see Chinese text change; text-profile-cjk does"
    fates = {_SIGNATURE: mapped(path, note if ours == "text-profile" else "")}
    for each, (field, convert) in _PROFILE.items():
        if conf.winner(each) is not None:
            fates[each] = _put(conf, draft, each, f"change.text_profile.{field}", convert)
    return fates


def _put(conf: Conf, draft: Draft, name: str, path: str, convert: Callable[[str], Any]) -> Fate:
    if conf.is_stock(name):
        return defaulted("its stock value", path)
    try:
        draft.put(path, convert(conf.value(name)), _reason(conf, name))
    except ValueError as error:
        return to_check(f"cannot be read: {error}", path)
    return mapped(path)


def _reason(conf: Conf, name: str) -> str:
    found = conf.winner(name)
    return f"{name}, {found.file}:{found.line}" if found else name
