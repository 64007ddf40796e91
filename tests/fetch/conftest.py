import pytest

from tests.fetch.certificates import Authority


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The authority of the certificates that servers of a module have."""
    return Authority(tmp_path_factory.mktemp("ca"))
