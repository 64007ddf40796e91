import pytest

from nacre.wire.chunks import MAX_LINE, MAX_TRAILER, ChunkRuns, ChunkScanner


def test_runs_are_a_sequence_of_pairs() -> None:
    runs = ChunkRuns([(3, 5), (10, 2)])
    runs.append(14, 1)
    assert list(runs) == [(3, 5), (10, 2), (14, 1)]
    assert (len(runs), runs[0], runs[-1], list(runs[1:])) == (
        3, (3, 5), (14, 1), [(10, 2), (14, 1)],
    )  # fmt: skip
    assert runs.total() == 8
    with pytest.raises(IndexError):
        runs[3]


@pytest.mark.parametrize(
    ("length", "left"),
    [(20, [(3, 5), (10, 2)]), (11, [(3, 5), (10, 1)]), (10, [(3, 5)]), (4, [(3, 1)]), (3, []),
     (0, [])],
)  # fmt: skip
def test_runs_are_clipped(length: int, left: list[tuple[int, int]]) -> None:
    runs = ChunkRuns([(3, 5), (10, 2)])
    runs.clip(length)
    assert list(runs) == left


def test_the_end_is_found_to_the_byte() -> None:
    scanner = ChunkScanner()
    body = b"3\r\nabc\r\n0\r\nX: y\r\n\r\n"
    assert scanner.feed(body + b"HTTP/1.1") == len(body)
    assert scanner.finished
    assert list(scanner.runs) == [(3, 3)]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"1;" + b"x" * MAX_LINE + b"\r\n", "badChunk"),
        (b"0\r\n" + b"X: y\r\n" * (MAX_TRAILER // 6 + 1), "trailerTrunc"),
        (b"\r\n1\r\na\r\n", "badChunk"),
        (b"\r1\r\na\r\n", "badChunk"),
        (b"1_0\r\n", "badChunk"),
        (b"+1\r\n", "badChunk"),
    ],
    ids=["long extension", "endless trailers", "blank line", "CR before", "underscore", "sign"],
)
def test_what_breaks_the_framing(body: bytes, fault: str) -> None:
    whole, single = ChunkScanner(), ChunkScanner()
    whole.feed(body)
    for at in range(len(body)):
        single.feed(body[at : at + 1])
        if single.fault:
            break
    assert (whole.fault, whole.fault_at) == (single.fault, single.fault_at)
    assert whole.fault == fault
    assert not whole.finished
