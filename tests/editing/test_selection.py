import pytest

from nacre.config.document import read_yaml
from nacre.editing.outline import selected_piece
from nacre.errors import ConfigError

TEXT = """\
seeds: seeds.txt
politeness:
  # 慢一点
  min_delay: 9
  max_delay: 60
scope:
  - rule: accept
  - rule: matches-regex
    regex: |
      a
      b
  - reject
archive: {prefix: x}
"""


@pytest.mark.parametrize(
    ("first", "last", "place", "value"),
    [
        (4, 4, "politeness", {"min_delay": 9}),
        (3, 5, "politeness", {"min_delay": 9, "max_delay": 60}),
        (2, 5, "", {"politeness": {"min_delay": 9, "max_delay": 60}}),
        (5, 2, "", {"politeness": {"min_delay": 9, "max_delay": 60}}),
        (8, 8, "scope", [{"rule": "matches-regex", "regex": "a\nb\n"}]),
        (8, 12, "scope", [{"rule": "matches-regex", "regex": "a\nb\n"}, "reject"]),
        (13, 99, "", {"archive": {"prefix": "x"}}),
    ],
)
def test_lines_are_a_piece_of_settings(first: int, last: int, place: str, value: object):
    piece = selected_piece(TEXT, first, last)
    lines = "".join(f"  {line}\n" for line in piece.text.split("\n"))
    assert (piece.place, read_yaml(f"v:\n{lines}", "x").tree["v"]) == (place, value)
    if first == 3:
        assert piece.text.startswith("# 慢一点\n")


@pytest.mark.parametrize(
    ("first", "last", "why"),
    [
        (3, 3, "no setting begins"),
        (5, 7, "parts of several"),
        (10, 11, "no setting begins"),
        (9, 9, "part of an item"),
    ],
)
def test_lines_that_are_no_piece_are_refused(first: int, last: int, why: str):
    with pytest.raises(ConfigError, match=why):
        selected_piece(TEXT, first, last)
