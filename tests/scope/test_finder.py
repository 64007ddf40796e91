import pytest

from nacre.scope.finder import Finder


@pytest.mark.parametrize("pattern", [r"(\w)=(\d+)?", r"(\w)=(?=.|$)(\d+)?"])
def test_groups_of_all_matches(pattern: str):
    finder = Finder(pattern)
    assert finder.groups == 2
    assert list(finder.find("a=1 b= c=3")) == [
        ("a=1", "a", "1"),
        ("b=", "b", ""),
        ("c=3", "c", "3"),
    ]
    assert finder.whole("a=12") == ("a=12", "a", "12")
    assert finder.whole("a=12 ") is None
    assert finder.without("a=1 b= ü") == "  ü"
    assert finder.without("none") == "none"


def test_a_search_that_takes_too_long_ends():
    finder = Finder(r"(?=(a+))(b|a+)+c", timeout=0.01)
    assert list(finder.find("a" * 60)) == []
    assert finder.whole("a" * 60) is None
