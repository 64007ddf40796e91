"""What a world is like, in figures."""

from typing import get_args

import pytest
from pydantic import ValidationError

from nacre_simweb.parameters import NOISES, NoiseKind, WorldParameters


def test_every_kind_of_noise_is_among_the_defaults():
    assert get_args(NoiseKind) == NOISES
    assert WorldParameters().noise.kinds == NOISES


def test_the_shares_of_edits_leave_room_for_large_ones():
    edits = WorldParameters().edits
    small = (
        edits.minor + edits.dates + edits.documents + edits.images + edits.tables + edits.reverts
    )
    assert 0 < small < 1


def test_ends_of_articles_add_up():
    deaths = WorldParameters().deaths
    assert deaths.missing + deaths.gone + deaths.soft + deaths.home == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"shape": {"hosts": 0}}, "hosts"),
        ({"shape": {"urls": "pretty"}}, "urls"),
        ({"shape": {"language": "fr"}}, "language"),
        ({"edits": {"every": 0}}, "every"),
        ({"edits": {"untouched": 1.5}}, "untouched"),
        ({"births": {"rhythm": "never"}}, "rhythm"),
        ({"noise": {"kinds": ["loud"]}}, "kinds"),
        ({"validators": {"modes": [["odd", 1.0]]}}, "modes"),
        ({"bytes_scale": 0}, "bytes_scale"),
        ({"days": -1}, "days"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_world_that_cannot_be_is_refused(fields, says):
    with pytest.raises(ValidationError, match=says):
        WorldParameters.model_validate(fields)


def test_parameters_are_read_back_from_their_text():
    made = WorldParameters(domain="x.test", days=30)
    assert WorldParameters.model_validate_json(made.model_dump_json()) == made
