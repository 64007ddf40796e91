import pytest
from pydantic import ValidationError

from nacre.archive.settings import WarcSettings


def test_sizes_may_have_units():
    assert WarcSettings.model_validate({"max_file_size": "500 MB"}).max_file_size == 500_000_000


@pytest.mark.parametrize(
    "values",
    [{"template": "x"}, {"directories": ["../x"]}, {"directories": []}, {"level": 4}, {"nope": 1}],
)
def test_what_cannot_be_is_refused(values):
    with pytest.raises(ValidationError):
        WarcSettings.model_validate(values)


def test_every_setting_is_documented():
    assert all(field.description for field in WarcSettings.model_fields.values())
