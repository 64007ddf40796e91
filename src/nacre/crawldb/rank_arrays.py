"""LinkRank over arrays: nodes are numbers, edges are pairs of them, ranks are whole numbers.

All of it is exact, so that ranks are the same bits in any order and in any number of tasks. Ids are
those of nodes that something links to, in the order of their groups, and behind them those of pages
that nothing links to. The functions are pure; arrays are those of numpy. Source: Nutch, `LinkRank`
(reference N 1.11).
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nacre.crawldb.row import ONE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nacre.crawldb.rank import Damping

Array = np.ndarray[Any, Any]
"""An array of numbers of one dimension."""

_LOW = np.uint64(ONE - 1)
_BITS = np.uint64(32)


class DistinctTexts(NamedTuple):
    """The different texts of a column in their order of appearance, and which one stands where.

    Attributes:
        texts: The texts, an array of Arrow.
        places: Of each row the place of its text.
    """

    texts: Any
    places: Array

    @classmethod
    def of(cls, column: Any) -> "DistinctTexts":  # noqa: ANN401 - pyarrow has no types
        """Those of an array of Arrow."""
        encoded = column.dictionary_encode()
        return cls(encoded.dictionary, encoded.indices.to_numpy())

    @classmethod
    def of_chunks(cls, column: Any) -> "DistinctTexts":  # noqa: ANN401 - pyarrow has no types
        """Those of an array of Arrow in chunks; all chunks have the same texts."""
        chunks = column.dictionary_encode().chunks
        if not chunks:
            return cls(column.combine_chunks(), np.empty(0, np.int32))
        # The last one has the texts of all before it, whether or not they share one dictionary.
        return cls(
            chunks[-1].dictionary, np.concatenate([one.indices.to_numpy() for one in chunks])
        )

    def sorted_by(self, parts: Array) -> Array:
        """The places in the order of the part of each text; equals as they were.

        Args:
            parts: The part of each text, at its place.
        """
        return np.argsort(parts, kind="stable")

    def at_places(self, of_rows: Array) -> Array:
        """The value of each text, of values of rows that are equal where the text is."""
        found = np.zeros(len(self.texts), of_rows.dtype)
        found[self.places] = of_rows
        return found


def inverse(order: Array) -> Array:
    """Of each place where it is in an order."""
    found = np.empty(len(order), np.int32)
    found[order] = np.arange(len(order), dtype=np.int32)
    return found


def bounds_of(parts: Array, number: int) -> list[int]:
    """The places where parts begin in the order of parts, and the end: `number` + 1 numbers."""
    counts = np.bincount(parts, minlength=number)
    return [0, *np.cumsum(counts).tolist()]


def resolved(ids: Array, first: int) -> Array:
    """Ids, where -1 - k stands for number k of the pages of a part that nothing links to.

    Args:
        ids: Ids as the part gave them.
        first: The id of its first such page.
    """
    return np.where(ids < 0, first - 1 - ids.astype(np.int64), ids).astype(np.int32)


def edge_blocks(targets: Array, sources: Array, nodes: int, block: int) -> "Iterator[Array]":
    """The edges by blocks of sources, each sorted by target: target << 32 | source in its block.

    Args:
        targets: Numbers of targets.
        sources: Ids of sources.
        nodes: Nodes of the graph.
        block: Ids of a block; a task holds what those of one block give.
    """
    wide = targets.astype(np.int64) << 32
    for low in range(0, nodes, block):
        if nodes <= block:
            yield np.sort(wide | sources)
            return
        inside = (sources >= low) & (sources < low + block)
        yield np.sort(wide[inside] | (sources[inside] - low))


def shares_of(ranks: Array, num_out: Array) -> Array:
    """The share that each node gives to each of its links, rounded down; 0 without links."""
    return np.where(num_out > 0, ranks // np.maximum(num_out, 1), 0)


def add_shares(sums: Array, targets: Array, sources: Array, shares: Array) -> None:
    """Add to the sum of each target what its sources give it.

    Args:
        sums: The sums, by number of target.
        targets: Targets of edges, ascending.
        sources: Sources of edges, numbers in `shares`.
        shares: What each source gives.
    """
    if len(targets):
        starts = np.concatenate(([0], np.flatnonzero(targets[1:] != targets[:-1]) + 1))
        sums[targets[starts]] += np.add.reduceat(shares[sources], starts)


def next_ranks(sums: Array, damping: "Damping") -> Array:
    """The ranks after an iteration: base plus sum by factor ÷ 2^32, rounded down.

    Args:
        sums: What is given to each node, in 2^-32; below 2^63.
        damping: The numbers of the iteration.
    """
    wide = sums.astype(np.uint64)
    factor = np.uint64(damping.factor)
    # In two halves: the product has up to 95 bits.
    given = (wide >> _BITS) * factor + (((wide & _LOW) * factor) >> _BITS)
    return given.astype(np.int64) + damping.base


def change_of(after: Array, before: Array) -> int:
    """The sum of how much each rank changed, in 2^-32."""
    return int(np.abs(after - before).sum())
