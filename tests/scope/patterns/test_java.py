import pytest
import re2
import regex

from nacre.scope.patterns.java import from_java


@pytest.mark.parametrize(
    ("java", "hits", "misses"),
    [
        (r"\Qa.b[\E$", ["a.b["], ["axb["]),
        (r"\Qa.b", ["a.b"], ["axb"]),
        (r"^\u0041\x42\x{43}\0104$", ["ABCD"], ["abcd"]),
        (r"^\cA\e$", ["\x01\x1b"], ["cA"]),
        (r"^\p{Alpha}+$", ["ab"], ["a1", "é"]),
        (r"^\P{Alpha}+$", ["12"], ["a1"]),
        (r"^[\p{Upper}_\d]+$", ["A_1"], ["a"]),
        (r"^[^\W]+$", ["a_1"], ["a-"]),
        (r"^[a-z&&[^b]]$", ["a"], ["b"]),
        (r"^[a[0-2]]$", ["a", "1"], ["3", "["]),
        (r"^[]a]$", ["]", "a"], ["b"]),
        (r"^\p{javaLowerCase}\p{L}\pL$", ["aÉb"], ["Aab", "a1a"]),
        (r"(?d)x", ["x"], ["y"]),
        (r"(?iu)X", ["x"], ["y"]),
        (r"(?i:X)y", ["xy"], ["xY"]),
        (r"^\D\W\S\h\d\Z", ["a-b 1"], ["1-b 1", "a-b 1 "]),
        (r"^[|~||~~]$", ["|", "~"], ["a"]),
        (r"\Ga", ["a"], ["ba"]),
        (r"a\.\-\_", ["a.-_"], ["ab-_"]),
    ],
)
def test_patterns_match_as_in_java(java, hits, misses):
    found = from_java(java)
    compiled = regex.compile(found.pattern, regex.V1)
    assert [text for text in hits if not compiled.search(text)] == []
    assert [text for text in misses if compiled.search(text)] == []
    if not found.nested and "_" not in java:
        fast = re2.compile(found.pattern)
        assert [text for text in hits if not fast.search(text)] == []
        assert [text for text in misses if fast.search(text)] == []


@pytest.mark.parametrize(
    ("pattern", "made"),
    [
        ("[a[b]]", "[a-b]"),
        ("[a-f&&[^b-e]]", "[af]"),
        ("[^a-c[x]]", "[^a-cx]"),
        (r"[\W&&\p{ASCII}&&[^ -.]]", r"[\x00-\x1f\/\:-\@\[-\^\`\{-\x7f]"),
        ("(?i)[a-c&&[B]]", "(?i)[Bb]"),
        ("(?x) [a b] c # d", "[a-b]c"),
        ("a{x}", r"a\{x\}"),
        ("[[:digit:]x]", "[0-9x]"),
        (r"(?<n>a)\k<n>", "(?P<n>a)(?P=n)"),
    ],
)
def test_sets_are_reckoned_and_stay_flat(pattern, made):
    assert from_java(pattern) == (made, False)


@pytest.mark.parametrize("pattern", [r"[\p{L}&&[^\p{Lu}]]", r"[a[^\p{L}x]]"])
def test_properties_inside_sets_are_not_for_re2(pattern):
    assert from_java(pattern).nested


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(?U)a", r"\(\?U\)"),
        ("(?z)a", "not a flag"),
        ("a\\", "backslash at the end"),
        (r"\p{javaMirrored}", "javaMirrored"),
        (r"\p", "without a property"),
        (r"\x{zz}", "not a character"),
        (r"\uD8", "not a character"),
        (r"\x{110000}", "not a character"),
        (r"\c", "without a letter"),
        (r"\09", "octal"),
    ],
)
def test_what_cannot_be_done_is_named(pattern, words):
    with pytest.raises(ValueError, match=words):
        from_java(pattern)
