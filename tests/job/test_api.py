"""What a program gives to `new_job`, and what it is told when that is wrong."""

from pathlib import Path

import pytest

from nacre.errors import ConfigError
from nacre.job.api import new_job

HOME = "http://127.0.0.1:8080/"


def test_one_text_alone_will_do(tmp_path: Path):
    one = new_job(tmp_path / "one", HOME, include="/keep/", exclude="/drop/")
    several = new_job(tmp_path / "several", [HOME], include=["/keep/"], exclude=["/drop/"])
    assert (tmp_path / "one" / "seeds.txt").read_text() == f"{HOME}\n"
    assert one.settings.scope == several.settings.scope


@pytest.mark.parametrize(("scope", "include"), [("hots", ()), ("host", "(")])
def test_what_is_wrong_is_an_error_of_the_configuration_and_makes_no_job(
    tmp_path: Path, scope: str, include: str
):
    with pytest.raises(ConfigError):
        new_job(tmp_path / "job", HOME, scope=scope, include=include)
    assert not (tmp_path / "job").exists()
