import pytest

from nacre.core.crawluri import extend_path
from nacre.scope.rules.stock import (
    PrerequisiteAccept,
    SeedAccept,
    TooManyHops,
    TooManyLinkHops,
    Transclusion,
)
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject, is_embed, link_hops


def speaks(rule, path="", **known):
    return rule.build(ScopeState())(Subject("http://site.test/", path, **known))


def far(hops):
    path = ""
    for _ in range(hops):
        path = extend_path(path, "L")
    return path


@pytest.mark.parametrize(
    ("hops", "limit", "too_many"),
    [
        (0, 0, False),
        (1, 0, True),
        (20, 20, False),
        (21, 20, True),
        (60, 59, True),
        (60, 60, False),
        (120, 119, True),
    ],
)
def test_hops_count_beyond_the_kept_path(hops, limit, too_many):
    assert speaks(TooManyHops(max_hops=limit), far(hops)) is too_many
    assert speaks(TooManyLinkHops(max_hops=limit), far(hops)) is too_many


def test_depth_counts_navigation_only():
    assert link_hops("LERMXSPI") == 3
    assert not speaks(TooManyLinkHops(max_hops=0), "RREEXIP")
    assert speaks(TooManyHops(max_hops=6), "RREEXIP")


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("", False),
        ("L", False),
        ("LM", False),
        ("S", False),
        ("E", True),
        ("LE", True),
        ("LEE", True),
        ("LEEE", False),
        ("LX", True),
        ("LEX", True),
        ("LXX", False),
        ("LR", True),
        ("LRRRRR", True),
        ("LRERER", True),
        ("LEREEL", False),
        ("LI", True),
        ("LP", True),
        ("EEE", False),
        ("7+LLE", True),
    ],
)
def test_transclusion(path, short):
    assert speaks(Transclusion(), path) is short


def test_transclusion_limits():
    assert speaks(Transclusion(max_trans_hops=3), "LEEE")
    assert not speaks(Transclusion(max_trans_hops=0), "LE")
    assert speaks(Transclusion(max_trans_hops=0), "LR")
    assert not speaks(Transclusion(max_speculative_hops=0), "LX")
    assert speaks(Transclusion(max_speculative_hops=2), "LXX")


@pytest.mark.parametrize(("path", "yes"), [("P", True), ("LP", True), ("LPR", False), ("", False)])
def test_prerequisites(path, yes):
    assert speaks(PrerequisiteAccept(), path) is yes


def test_seeds():
    assert speaks(SeedAccept(), is_seed=True)
    assert not speaks(SeedAccept(), "L")


@pytest.mark.parametrize(
    ("path", "embed"), [("E", True), ("LE", True), ("LER", True), ("P", True), ("LX", False)]
)
def test_embeds(path, embed):
    assert is_embed(path) is embed
