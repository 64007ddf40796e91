"""What holds for all tests."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# No timed assertions: machines are noisy. A fresh clone is green or it is not, so that the examples
# are the same each time; `NACRE_FUZZ=1` looks for new ones (make test-all does).
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=500,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("fuzz" if os.environ.get("NACRE_FUZZ") else "steady")


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The crawls of the tests share no politeness with those of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
