"""The truth is what the world answers."""

import pytest

from nacre.simweb.archetypes import archetype
from nacre.simweb.calendar import DAY
from nacre.simweb.truth import GONE, Truth
from nacre.simweb.world import World


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
