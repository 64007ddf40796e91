import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.rights.vocabulary import (
    Preference,
    directive_preferences,
    is_known,
    nearest_known,
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
    "text",
    [
        "noarchive", "noai", "train-ai=n", "ai-train=n", "search=y", "tdm=n", "crawl=n", "all",
        "train-genai=n", "ai-index=n", "max-snippet=0", "license", "license=https://a.test/l",
        "llms.txt", "all=n",
    ],
)  # fmt: skip
def test_what_sites_are_known_to_state(text: str):
    wanted = read_preference(text)
    assert wanted is not None
    assert is_known(wanted)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("noarchiv", "noarchive"),
        ("no-archive", "noarchive"),
        ("noarchive=y", "noarchive"),
        ("trian-ai=n", "train-ai=n"),
        ("train-ai", "train-ai=n"),
        ("train-ai=no", "train-ai=n"),
        ("search=yes", "search=y"),
        ("serch=y", "search=y"),
        ("tdm=0", "tdm=n"),
        ("max-snipet=20", "max-snippet=20"),
        ("存档=n", ""),
        ("zzz", ""),
        ("quantum=n", ""),
    ],
)
def test_what_a_user_may_have_meant(text: str, meant: str):
    wanted = read_preference(text)
    assert wanted is not None
    assert not is_known(wanted)
    near = nearest_known(wanted)
    assert (near.text if near else "") == meant
    assert near is None or is_known(near)


@given(st.text(min_size=1, max_size=12), st.sampled_from(["", "y", "n", "no", "x"]))
def test_a_suggestion_is_always_known(key: str, value: str):
    near = nearest_known(Preference(key, value))
    assert near is None or is_known(near)


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
