"""The file /.well-known/tdmrep.json. Source: TDM Reservation Protocol, "TDM File on the Origin"."""

from collections.abc import Iterator
from typing import Any

import msgspec

from nacre.rights.signals import TDMREP, PreferenceSignal, as_written
from nacre.rights.vocabulary import ALLOWED, DISALLOWED, Preference, preference

_RESERVED = {1: DISALLOWED, 0: ALLOWED, "1": DISALLOWED, "0": ALLOWED}


def tdmrep_signals(text: bytes) -> Iterator[PreferenceSignal]:
    """Yield the rules of a file without mistakes; none if it is no JSON array."""
    try:
        rules: Any = msgspec.json.decode(text.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    if not isinstance(rules, list):
        return
    for rule in rules:
        signal = _rule(rule) if isinstance(rule, dict) else None
        if signal is not None:
            yield signal


def _rule(rule: dict[str, Any]) -> PreferenceSignal | None:
    location, reserved = rule.get("location"), rule.get("tdm-reservation")
    if not isinstance(location, str) or not location:
        return None
    if isinstance(reserved, bool) or not isinstance(reserved, (int, str)):
        return None
    if reserved not in _RESERVED:
        return None
    stated = [Preference("tdm", _RESERVED[reserved])]
    policy = rule.get("tdm-policy")
    if isinstance(policy, str) and policy and stated[0].value == DISALLOWED:
        stated.append(preference("tdm-policy", policy))
    line = as_written(msgspec.json.encode(rule).decode("utf-8", "replace"))
    path = location if location.startswith(("/", "*")) else f"/{location}"
    return PreferenceSignal(TDMREP, "tdm-reservation", line, tuple(stated), path)
