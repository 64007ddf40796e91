from pathlib import Path

import pytest

from nacre.job.configuration.layers import inner_layers


def test_a_configuration_of_the_user_that_cannot_be_had_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    config = tmp_path / "nacre" / "config.yaml"
    assert inner_layers([], tmp_path) == []
    config.parent.mkdir()
    config.symlink_to(config)
    (layer,) = inner_layers([], tmp_path)
    assert [str(problem) for problem in layer.problems] == [
        f"{config}: cannot be read: Too many levels of symbolic links"
    ]
