"""Lines that are sorted in files."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from nacre.packing.sorted_lines import SortedLines

LINES = st.lists(st.binary(max_size=8).filter(lambda line: b"\n" not in line), max_size=60)


@given(LINES, st.integers(1, 100))
def test_any_portions_give_each_line_once_in_order(lines: list[bytes], portion: int):
    with TemporaryDirectory() as name, SortedLines(Path(name), "x", portion) as found:
        for line in lines:
            found.add(line)
        expected = sorted(set(lines))
        assert list(found) == expected
        assert list(found) == expected


def test_nothing_is_left_in_the_folder(tmp_path):
    with SortedLines(tmp_path, "x", 10) as lines:
        for number in range(20):
            lines.add(b"%05d" % number)
        assert list(tmp_path.iterdir()) == []
        assert len(list(lines)) == 20
