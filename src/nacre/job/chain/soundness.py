"""What keeps the entries of a chain from working together."""

from collections.abc import Iterator, Sequence

from nacre.job.chain.entry import ChainName, Entry
from nacre.job.chain.stock import REPLY, STOCK
from nacre.job.chain.table import PROCESSORS
from nacre.scope.subject import Place


def require_sound(chain: ChainName, entries: Sequence[Entry]) -> None:
    """Raise ValueError with everything that is wrong with a chain."""
    problems = [
        *_misplaced(chain, entries),
        *_twins(chain, entries),
        *_fixed(chain, entries),
        *_unmet(chain, entries),
    ]
    if problems:
        raise ValueError("; ".join(problems))


def _misplaced(chain: ChainName, entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        if chain not in entry.chains:
            belongs = " or ".join(sorted(entry.chains))
            yield f"`{entry.label}` cannot stand in the {chain} chain; it belongs in: {belongs}"


def _twins(chain: ChainName, entries: Sequence[Entry]) -> Iterator[str]:
    labels = [entry.label for entry in entries]
    for label in dict.fromkeys(one for one in labels if labels.count(one) > 1):
        yield f"the {chain} chain has two entries `{label}`; give one of them a `name`"
    kinds = [entry.kind for entry in entries]
    for kind in dict.fromkeys(one.kind for one in STOCK[chain] if kinds.count(one.kind) > 1):
        yield f"`{kind}` can stand in the {chain} chain only once"


def _fixed(chain: ChainName, entries: Sequence[Entry]) -> Iterator[str]:
    for stock in STOCK[chain]:
        if not stock.fixed:
            continue
        found = next((entry for entry in entries if entry.kind == stock.kind), None)
        if found is None:
            yield f"the {chain} chain needs `{stock.kind}`: {stock.fixed}"
        elif not found.enabled or found.gate:
            yield f"`{found.label}` can have no gate, and cannot be disabled: {stock.fixed}"
    order = [entry.kind for entry in entries if entry.kind in _ORDER[chain]]
    if len(set(order)) == len(order) and order != sorted(order, key=_ORDER[chain].index):
        yield f"in the {chain} chain these keep their order: {', '.join(_ORDER[chain])}"


_ORDER = {
    ChainName.CANDIDATE: tuple(entry.kind for entry in STOCK[ChainName.CANDIDATE]),
    ChainName.FETCH: (),
    ChainName.DISPOSITION: tuple(entry.kind for entry in STOCK[ChainName.DISPOSITION]),
}
"""Entries that are done in one step, in this order only."""


def _unmet(chain: ChainName, entries: Sequence[Entry]) -> Iterator[str]:
    given: set[str] = set()
    everywhere = {gift for entry in entries if entry.enabled for gift in entry.gives}
    gifts = {gift for kind in PROCESSORS if chain in kind.chains for gift in kind.gives}
    for entry in entries:
        if not entry.enabled:
            continue
        for need in sorted((entry.needs & gifts) - given):
            late = need in everywhere
            how = "stands behind it" if late else "is not in the chain or disabled"
            yield f"`{entry.label}` needs {need}, which {_givers(need)} gives, and that {how}"
        for need in sorted(entry.uses - everywhere):
            yield (
                f"`{entry.label}` needs {need}, which {_givers(need)} gives, and that is not in "
                f"the {chain} chain or disabled"
            )
        given |= entry.gives


def _givers(need: str) -> str:
    names = [
        f"`{kind.model_fields['processor'].default}`" for kind in PROCESSORS if need in kind.gives
    ]
    return " or ".join(names) or "no known processor"


def gate_place(chain: ChainName, entries: Sequence[Entry], number: int) -> Place:
    """What the gate of an entry may ask about."""
    before = {gift for entry in entries[:number] if entry.enabled for gift in entry.gives}
    if chain is ChainName.CANDIDATE:
        return Place.CANDIDATES
    if chain is ChainName.FETCH:
        return Place.AFTER_FETCH if REPLY in before else Place.BEFORE_FETCH
    archived = any(entry.kind == "archive" for entry in entries[:number])
    return Place.DISPOSITION if archived else Place.AFTER_FETCH
