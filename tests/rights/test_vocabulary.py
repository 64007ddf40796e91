import pytest

from nacre.rights.vocabulary import (
    Preference,
    directive_preferences,
    preference,
    read_preference,
    strictest,
)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("train-ai=n", Preference("train-ai", "n")),
        (" AI-Train = N ", Preference("train-ai", "n")),
        ("noarchive", Preference("noarchive")),
        ("", None),
        ("train-ai=", None),
        ("=n", None),
        ("no archive", None),
    ],
)
def test_what_a_user_writes(text, read):
    assert read_preference(text) == read


@pytest.mark.parametrize(
    ("values", "result"),
    [((), "none"), (("y",), "y"), (("y", "n", "y"), "n"), (("reference",), "reference")],
)
def test_what_one_source_disallows_is_disallowed(values, result):
    assert strictest(values) == result


def test_a_directive_may_imply_a_preference():
    found = directive_preferences({"noai", "max-snippet:20"})
    assert [each.text for each in found] == ["max-snippet=20", "noai", "train-ai=n"]


def test_long_keys_and_values_are_cut():
    long = preference("k" * 1000, "v" * 1000)
    assert (len(long.key), len(long.value)) == (64, 300)
