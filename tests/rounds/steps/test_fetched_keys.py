"""The keys beside a list: what is fetched already of the hosts of a unit that fetches embeds."""

from pathlib import Path

import pytest

from nacre.rounds.segments.parts import UnitPlace
from nacre.rounds.segments.unit_list import ParquetList
from nacre.rounds.steps.generate import GenerateOptions, generate
from tests.rounds.steps.test_generate import NOW, opened, seeded
from tests.rounds.test_explain import change


@pytest.mark.slow
def test_units_that_fetch_embeds_know_what_is_fetched_of_their_hosts(tmp_path: Path):
    root = tmp_path / "j"
    picture, other = "http://a.example/%E4%B9%A6.png", "http://b.example/i.png"
    seeded(root, "http://a.example/", "http://a.example/new", "http://a.example/书.png", other)
    change(
        root, "state", *({"key": key, "status": 2, "fetch_time": NOW} for key in (picture, other))
    )
    for clock, follow in ((NOW, "redirects"), (NOW + 1, "embeds")):
        with opened(root, clock, {"fetch.follow": follow, "generate.lease": 0.001}) as context:
            options = GenerateOptions(where="key = 'http://a.example/'")
            [segment] = generate(context, options).segments
            uris = ParquetList(UnitPlace(context.cycle.storage, segment, "u0001"))
        assert uris.fetched(picture) is (follow == "embeds")
        # It is listed, never fetched, or at the host of no unit.
        assert not any(map(uris.fetched, ("http://a.example/", "http://a.example/new", other)))
        uris.done.add("http://a.example/")
        assert uris.fetched("http://a.example/")
