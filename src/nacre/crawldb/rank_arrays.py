"""LinkRank over arrays: nodes are numbers, edges are pairs of them, ranks are whole numbers.

The arithmetic is exact, so that ranks have the same bits in any order and number of tasks. First
come the ids of nodes with links to them, in the order of their groups, then those of nodes without.
The functions are pure; arrays are those of numpy. Source: Nutch, `LinkRank` (reference N 1.11).
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
    """The distinct texts of a column in their order of appearance, with their places.

    Attributes:
        texts: The texts, an array of Arrow.
        places: The place of the text of each row.
    """

    texts: Any
    places: Array

    @classmethod
    def of(cls, column: Any) -> "DistinctTexts":  # noqa: ANN401 - pyarrow has no types
        """Return the distinct texts of an array of Arrow."""
        encoded = column.dictionary_encode()
        return cls(encoded.dictionary, encoded.indices.to_numpy())

    @classmethod
    def of_chunks(cls, column: Any) -> "DistinctTexts":  # noqa: ANN401 - pyarrow has no types
        """Return the distinct texts of all chunks of an array of Arrow."""
        chunks = column.dictionary_encode().chunks
        if not chunks:
            return cls(column.combine_chunks(), np.empty(0, np.int32))
        # The last chunk has the texts of all earlier ones, even without a shared dictionary.
        return cls(
            chunks[-1].dictionary, np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
        )

    def sorted_by(self, parts: Array) -> Array:
        """Return the places in the order of the part of each text; a stable sort.

        Args:
            parts: The part of each text, at its place.
        """
        return np.argsort(parts, kind="stable")

    def at_places(self, of_rows: Array) -> Array:
        """Return the value of each text, from the values of rows; rows with equal texts agree."""
        values = np.zeros(len(self.texts), of_rows.dtype)
        values[self.places] = of_rows
        return values


def inverse(order: Array) -> Array:
    """Return the inverse of a permutation."""
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def bounds_of(parts: Array, number: int) -> list[int]:
    """Return the begins of parts in the order of parts, and the end: `number` + 1 numbers."""
    counts = np.bincount(parts, minlength=number)
    return [0, *np.cumsum(counts).tolist()]


def resolved(ids: Array, first: int) -> Array:
    """Resolve ids: -1 - k means number k of the nodes of a part without links to them.

    Args:
        ids: The ids of the part.
        first: The id of its first node without links to it.
    """
    return np.where(ids < 0, first - 1 - ids.astype(np.int64), ids).astype(np.int32)


def edge_blocks(targets: Array, sources: Array, nodes: int, block: int) -> "Iterator[Array]":
    """Yield the edges by blocks of sources, sorted by target: target << 32 | source in its block.

    Args:
        targets: Numbers of targets.
        sources: Ids of sources.
        nodes: Nodes of the graph.
        block: Ids of a block; a task has the shares of one block in memory.
    """
    wide = targets.astype(np.int64) << 32
    for low in range(0, nodes, block):
        if nodes <= block:
            yield np.sort(wide | sources)
            return
        inside = (sources >= low) & (sources < low + block)
        yield np.sort(wide[inside] | (sources[inside] - low))


def shares_of(ranks: Array, num_out: Array) -> Array:
    """Return the share that each node gives to each of its links, rounded down; 0 without links."""
    return np.where(num_out > 0, ranks // np.maximum(num_out, 1), 0)


def add_shares(sums: Array, targets: Array, sources: Array, shares: Array) -> None:
    """Add the shares of sources to the sum of each target.

    Args:
        sums: The sums, by number of target.
        targets: Targets of edges, ascending.
        sources: Sources of edges, numbers in `shares`.
        shares: The share of each source.
    """
    if len(targets):
        starts = np.concatenate(([0], np.flatnonzero(targets[1:] != targets[:-1]) + 1))
        sums[targets[starts]] += np.add.reduceat(shares[sources], starts)


def next_ranks(sums: Array, damping: "Damping") -> Array:
    """Return the ranks after an iteration: base plus sum by factor ÷ 2^32, rounded down.

    Args:
        sums: The sum of shares of each node, in 2^-32; below 2^63.
        damping: The numbers of the iteration.
    """
    wide = sums.astype(np.uint64)
    factor = np.uint64(damping.factor)
    # In two halves: the product has up to 95 bits.
    weighted = (wide >> _BITS) * factor + (((wide & _LOW) * factor) >> _BITS)
    return weighted.astype(np.int64) + damping.base


def change_of(after: Array, before: Array) -> int:
    """Return the sum of the changes of all ranks, in 2^-32."""
    return int(np.abs(after - before).sum())
