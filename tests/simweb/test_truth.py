"""The truth is what the world answers."""

import re

import pytest

from nacre.planner.discovery.link_rules import LinkRule
from nacre_simweb.archetypes import archetype
from nacre_simweb.calendar import DAY
from nacre_simweb.state import RULES
from nacre_simweb.truth import GONE, Truth
from nacre_simweb.world import World


@pytest.mark.parametrize("time", [0.0, 10.3 * DAY, 33 * DAY, 59.9 * DAY])
def test_the_version_that_a_url_answers_is_that_of_its_track(small, time):
    for track in Truth(small).tracks.values():
        if track.kind == "list":
            continue
        resource = small.respond(track.url, time).resource
        there = resource.kind == track.kind
        assert (resource.version if there else GONE) == track.at(time), track


def test_lists(small):
    time = 33 * DAY
    for track in Truth(small).tracks.values():
        if track.kind == "list":
            resource = small.respond(track.url, time).resource
            if resource.status == 200:
                assert resource.version == track.at(time), track


def test_spans_follow_one_another():
    world = World(archetype("dying"), 3)
    for track in Truth(world).tracks.values():
        for before, after in zip(track.spans, track.spans[1:], strict=False):
            assert before.start < before.end <= after.start


def test_what_comes_back_and_what_does_not():
    world = World(archetype("dying"), 3)
    tracks = Truth(world).tracks.values()
    back = [t for t in tracks if any(span.change == "back" for span in t.spans)]
    dead = [t for t in tracks if t.deaths(0.0, world.end)]
    assert back
    assert dead
    for track in dead:
        assert track.at(track.spans[-1].end) == GONE
        assert not track.rests(world.end)


@pytest.mark.parametrize("style", RULES)
def test_the_rule_of_a_style_is_what_its_names_show(style):
    """T: the day of birth stands in each; S: a number that rises with them; K: neither."""
    parameters = archetype("small")
    shape = parameters.shape.model_copy(update={"urls": style})
    tracks = Truth(World(parameters.model_copy(update={"shape": shape}), 3)).tracks.values()
    names = [
        track.url.rpartition("/")[2] if style != "dashed" else track.url.partition("//")[2]
        for track in sorted(tracks, key=lambda each: each.born)
        if track.kind == "article" and track.spans[0].change == "new"
    ]
    numbers = [[int(run) for run in re.findall(r"\d+", name)] for name in names]
    assert len(names) > 20
    columns = list(zip(*numbers, strict=True)) if RULES[style] is not LinkRule.KEY else []
    rising = [list(column) == sorted(set(column)) for column in columns]
    dated = [re.search(r"20\d\d-?\d\d(/|-)?\d\d", name) is not None for name in names]
    assert RULES[style] == ("T" if all(dated) else "S" if any(rising) else "K")
