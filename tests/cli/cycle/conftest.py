import pytest

from tests.rounds.made import few_buckets

__all__ = ["few_buckets"]


@pytest.fixture
def _no_settings_of_the_user(few_buckets: None) -> None:
    """Those of `few_buckets` alone."""
