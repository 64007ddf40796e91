"""`chains` in `crawl.yaml`."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from nacre.config.component import Component, setting
from nacre.job.chain.editing import INSERT, REMOVE, REORDER, entries_of
from nacre.job.chain.entry import ChainName, Entry
from nacre.job.chain.processors import PROCESSORS
from nacre.job.chain.soundness import require_sound
from nacre.job.chain.stock import STOCK
from nacre.job.chain.table import IN_SCHEMA, AnyEntry

__all__ = ["PROCESSORS", "ChainSettings"]

_ITEM: dict[str, Any] = {IN_SCHEMA: True}
_NAMES = {"type": "array", "items": {"type": "string"}}
_SCHEMA = {
    "anyOf": [
        {"type": "array", "items": _ITEM},
        {
            "type": "object",
            "properties": {
                INSERT: {"type": "array", "items": _ITEM},
                REMOVE: _NAMES,
                REORDER: _NAMES,
            },
            "additionalProperties": {"type": "object"},
        },
    ]
}


def _sound(chain: ChainName) -> Callable[[tuple[Entry, ...]], tuple[Entry, ...]]:
    def checked(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        require_sound(chain, entries)
        return entries

    return checked


def _stock(chain: ChainName) -> Callable[[], tuple[Entry, ...]]:
    return lambda: STOCK[chain]


_Candidate = Annotated[
    tuple[AnyEntry, ...],
    BeforeValidator(partial(entries_of, ChainName.CANDIDATE)),
    AfterValidator(_sound(ChainName.CANDIDATE)),
    WithJsonSchema(_SCHEMA),
]
_Fetch = Annotated[
    tuple[AnyEntry, ...],
    BeforeValidator(partial(entries_of, ChainName.FETCH)),
    AfterValidator(_sound(ChainName.FETCH)),
    WithJsonSchema(_SCHEMA),
]
_Disposition = Annotated[
    tuple[AnyEntry, ...],
    BeforeValidator(partial(entries_of, ChainName.DISPOSITION)),
    AfterValidator(_sound(ChainName.DISPOSITION)),
    WithJsonSchema(_SCHEMA),
]


class ChainSettings(Component):
    """The processors that a URI meets: a list of them, or what differs from the stock chain.

    `insert: [{processor: NAME, before: OTHER}]` (or `after`; without both it goes where it usually
    stands), `remove: [NAME]`, `reorder: [NAME, NAME]`, and `NAME: {enabled: false, gate: RULES}`.
    """

    candidate: _Candidate = setting(
        _stock(ChainName.CANDIDATE), "For each link found.", live=False, sheets=False, items=True
    )
    fetch: _Fetch = setting(
        _stock(ChainName.FETCH), "For each URI handed out.", live=False, sheets=False, items=True
    )
    disposition: _Disposition = setting(
        _stock(ChainName.DISPOSITION),
        "For each URI that is done with.",
        live=False,
        sheets=False,
        items=True,
    )

    def of(self, chain: ChainName) -> tuple[Entry, ...]:
        """The entries of a chain, in order."""
        entries: tuple[Entry, ...] = getattr(self, chain.value)
        return entries
