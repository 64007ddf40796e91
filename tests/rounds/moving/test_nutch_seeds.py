"""Seeds for Nutch: a line of a row."""

import pytest

from nacre.rounds.moving.nutch_rows import nutch_seed

ROW = {"key": "http://a.example/", "url": None, "status": "db_fetched", "interval": 60}


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({}, "http://a.example/\tnutch.fetchInterval=60"),
        ({"url": "http://a.example/国", "score": 0.25, "cash": 1.0},
         "http://a.example/国\tnutch.score=0.25\tnutch.fetchInterval=60"),
        ({"cash": 2.0, "fixed_interval": 90.0},
         "http://a.example/\tnutch.score=2\tnutch.fetchInterval.fixed=90"),
        ({"interval": None, "seed_md": [("lang", "中"), ("a=b", "x"), ("n", "1\t2"),
                                        ("nutch.score", "9")]},
         "http://a.example/\tlang=中"),
        ({"status": "db_gone"}, ""),
        ({"status": "db_duplicate"}, ""),
    ],
)  # fmt: skip
def test_a_line(more: dict[str, object], line: str):
    assert nutch_seed({**ROW, **more}) == line
