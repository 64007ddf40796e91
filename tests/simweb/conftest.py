"""Small worlds, made once."""

import pytest

from nacre_simweb.archetypes import archetype
from nacre_simweb.world import World


@pytest.fixture(scope="session")
def small():
    return World(archetype("small", "honest"), 7)
