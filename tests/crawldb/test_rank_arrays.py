"""LinkRank over arrays: sums and products that are exact, also where they are large."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.crawldb.rank import Damping
from nacre.crawldb.rank_arrays import (
    DistinctTexts,
    add_shares,
    bounds_of,
    change_of,
    edge_blocks,
    inverse,
    next_ranks,
    resolved,
    shares_of,
)
from nacre.crawldb.row import ONE


@given(st.lists(st.integers(0, 2**63 - 1), min_size=1), st.floats(0, 1))
def test_products_are_exact(sums: list[int], damping: float):
    numbers = Damping.of(damping, 10)
    small = [one % (2**62) for one in sums]
    found = next_ranks(np.array(small, np.int64), numbers)
    assert found.tolist() == [numbers.base + one * numbers.factor // ONE for one in small]


def test_sums_of_shares():
    sums = np.zeros(3, np.int64)
    add_shares(sums, np.array([0, 0, 2]), np.array([1, 0, 1]), np.array([5, 7]))
    add_shares(sums, np.array([], np.int32), np.array([], np.int32), np.array([5, 7]))
    add_shares(sums, np.array([2]), np.array([0]), np.array([5, 7]))
    assert sums.tolist() == [12, 0, 12]


def test_shares_are_rounded_down():
    assert shares_of(np.array([7, 7, 7]), np.array([2, 0, 7])).tolist() == [3, 0, 1]
    assert change_of(np.array([1, 5]), np.array([4, 1])) == 7


@pytest.mark.parametrize(
    ("block", "expected"),
    [(9, [[(0, 3), (1, 0), (1, 4)]]), (3, [[(1, 0)], [(0, 0), (1, 1)]])],
)
def test_edges_lie_in_blocks_of_sources(block: int, expected: list[list[tuple[int, int]]]):
    targets, sources = np.array([1, 0, 1], np.int32), np.array([4, 3, 0], np.int32)
    found = [
        [(int(one >> 32), int(one & (ONE - 1))) for one in blocked]
        for blocked in edge_blocks(targets, sources, 5, block)
    ]
    assert found == expected


def test_texts_and_parts():
    texts = DistinctTexts.of(pa.array(["书", "a", "书"]))
    assert (texts.texts.to_pylist(), texts.places.tolist()) == (["书", "a"], [0, 1, 0])
    assert texts.at_places(np.array([3, 1, 3], np.uint16)).tolist() == [3, 1]
    order = texts.sorted_by(np.array([3, 1]))
    assert (order.tolist(), inverse(order).tolist()) == ([1, 0], [1, 0])
    assert bounds_of(np.array([1, 1, 3]), 4) == [0, 0, 2, 2, 3]
    chunks = DistinctTexts.of_chunks(pa.chunked_array([["a"], [], ["b", "a"]], pa.string()))
    assert (chunks.texts.to_pylist(), chunks.places.tolist()) == (["a", "b"], [0, 1, 0])
    nothing = DistinctTexts.of_chunks(pa.chunked_array([], pa.string()))
    assert (len(nothing.texts), len(nothing.places)) == (0, 0)


def test_ids_of_nodes_that_nothing_links_to():
    assert resolved(np.array([5, -1, -3], np.int32), 100).tolist() == [5, 100, 102]
