import pytest

from nacre.scope.patterns import PatternList, examine


@pytest.mark.parametrize(
    ("patterns", "text", "search", "every", "result"),
    [
        (["/mod/"], "http://a/mod/x", True, False, True),
        (["/mod/"], "http://a/x", True, False, False),
        (["/mod/"], "http://a/mod/x", False, False, False),
        (["http://a/.*"], "http://a/mod/x", False, False, True),
        (["a", "b"], "xa", True, True, False),
        (["a", "b"], "ba", True, True, True),
        (["(?<=a)b", "c"], "ab", True, False, True),
        (["(?<=a)b", "c"], "b", True, False, False),
        (["(?<=a)b", "c"], "abc", True, True, True),
        ([], "a", True, True, False),
    ],
)
def test_matches(patterns: list[str], text: str, search: bool, every: bool, result: bool):
    assert PatternList(patterns, search=search, every=every).matches(text) is result


def test_what_needs_backtracking_is_told():
    note = examine("(?<=a)b")
    assert note is not None
    assert note.usable
    assert examine("plain") is None
    broken = examine("(")
    assert broken is not None
    assert not broken.usable
