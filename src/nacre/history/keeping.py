"""What incremental runs write to WARC: confirmations, failures, differences (docs/recrawl.md)."""

from nacre.config.component import Bytes, Component, Seconds, setting

_DAY = 86_400.0


class KeepSettings(Component):
    """What incremental runs write to WARC; the fetch log has every visit."""

    confirmations: Seconds = setting(
        _DAY,
        "A reply that says that a page is still the same (304, or the same bytes) is written the "
        "first time after a change, then once in each such period of UTC; 0: each time.",
        unit="s",
    )
    failures: Seconds = setting(
        _DAY,
        "Of replies that say nothing of a page (5xx, 429, refusals) one is written for each host "
        "in each such period of UTC; 0: all of them.",
        unit="s",
    )
    full_every: Seconds = setting(
        30 * _DAY,
        "`lean`, `delta`: what is kept as a note or a difference is stored in full at least once "
        "in this time; 0: each time.",
        unit="s",
    )
    versions: int = setting(
        16, "`delta`: of so many versions at least one is stored in full; 1: all.", ge=1, le=1000
    )
    saving: float = setting(
        0.5,
        "`delta`: share of the compressed reply that a difference must save; else it is stored in "
        "full.",
        ge=0,
        le=1,
    )
    largest: Bytes = setting(
        2_000_000, "`delta`: longer replies are stored in full.", unit="bytes", le=67_108_864
    )
