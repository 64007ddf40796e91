import subprocess
import sys
from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from nacre.config.component import Component
from nacre.scope.rules.stock import RULES
from nacre.settings.settings import JobSettings


def kinds(of: type[Component] = Component) -> Iterator[type[Component]]:
    """All of Nacre's components."""
    for kind in of.__subclasses__():
        if kind.__module__.startswith("nacre."):
            yield kind
        yield from kinds(kind)


def exactly(one: object, other: object) -> bool:
    """They are equal, and of the same types to the last member."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Component) and isinstance(other, Component):
        return one.model_fields_set == other.model_fields_set and exactly(
            list(one.__dict__.items()), list(other.__dict__.items())
        )
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(exactly, one, other))
    return one == other


def test_defaults_are_what_validation_would_make_of_them():
    looked_at = 0
    assert list(RULES)
    for kind in kinds():
        if any(info.is_required() for info in kind.model_fields.values()):
            continue
        try:
            validated = kind()
        except (TypeError, LookupError, ValidationError):  # abstract, or it wants a file
            continue
        assert exactly(kind.model_construct(), validated), kind
        looked_at += 1
    assert looked_at > 100


_ONE_SECTION = """
from nacre.engine.settings import EngineSettings
from nacre.settings.settings import JobSettings, RecrawlSettings
job = JobSettings.model_validate({"engine": {"parallel": 3}})
print(job.engine.parallel, type(job.recrawl) is RecrawlSettings)
print(EngineSettings.__pydantic_complete__, RecrawlSettings.__pydantic_complete__)
"""


def test_sections_that_a_job_does_not_mention_make_no_validators():
    command = [sys.executable, "-c", _ONE_SECTION]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3", "True", "False", "False"]


@pytest.mark.parametrize("said", [{"parallel": 0}, {"paralel": 3}])
def test_sections_that_a_job_mentions_are_validated(said: dict[str, int]):
    with pytest.raises(ValidationError):
        JobSettings.model_validate({"engine": said})
