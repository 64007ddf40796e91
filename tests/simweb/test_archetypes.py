"""The worlds by name."""

import pytest

from nacre.errors import ConfigError
from nacre_simweb.archetypes import ARCHETYPES, archetype
from nacre_simweb.world import World


def test_half_of_the_worlds_know_no_poisson_page():
    free = [
        name
        for name in ARCHETYPES
        if all(kind != "poisson" for kind, _ in archetype(name).edits.processes)
    ]
    assert len(free) >= len(ARCHETYPES) / 2


@pytest.mark.parametrize("name", sorted(ARCHETYPES))
@pytest.mark.slow
def test_start_pages_of_all_worlds(name):
    parameters = archetype(name)
    tiny = parameters.shape.model_copy(update={"pages": 120})
    traps = parameters.traps.model_copy(update={"wide": min(parameters.traps.wide, 50)})
    world = World(parameters.model_copy(update={"shape": tiny, "traps": traps}), 1)
    for start in world.starts:
        assert world.respond(start, 3601.0).status in {200, 503}


def test_a_world_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(ConfigError, match="there is no world 'mars'; there are app, culture"):
        archetype("mars")


@pytest.mark.parametrize(
    ("hints", "sitemap", "teasers", "modes"),
    [
        ("none", "none", False, {"none"}),
        ("honest", "honest", True, {"both"}),
        ("partial", "partial", False, {"none"}),
        ("lying", "partial", False, {"stable", "now"}),
    ],
)
def test_hints_are_the_same_in_every_world(hints, sitemap, teasers, modes):
    for name in ARCHETYPES:
        found = archetype(name, hints)
        assert (found.hints.sitemap, found.hints.teasers) == (sitemap, teasers)
        assert {mode for mode, _ in found.validators.modes} == modes


def test_every_world_has_a_domain_of_its_own():
    domains = [made().domain for made in ARCHETYPES.values()]
    assert len(set(domains)) == len(domains)
    assert all(domain.endswith(".test") for domain in domains)


def test_the_twins_have_the_size_of_the_papers_sites():
    gov, mct = archetype("gov-twin"), archetype("mct-twin")
    assert gov.shape.pages + 5 * gov.shape.sections == pytest.approx(7436, rel=0.01)
    assert gov.births.per_day * 91 == pytest.approx(646, rel=0.25)
    assert mct.births.per_day * 91 == pytest.approx(2488 - 1971, rel=0.25)
