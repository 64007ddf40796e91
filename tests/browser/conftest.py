from pathlib import Path

import pytest


@pytest.fixture
def public_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which every user may write."""
    directory = tmp_path_factory.mktemp("public")
    for parent in (directory, *directory.parents):
        if parent.owner() == directory.owner() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o711)
    directory.chmod(0o1777)
    return directory
