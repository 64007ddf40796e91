import pytest
from pydantic import ValidationError

from nacre.extract.settings import ExtractSettings


def test_defaults_are_those_of_heritrix():
    settings = ExtractSettings()
    assert settings.max_outlinks == 6000
    assert settings.max_sitemap_links == 50_000
    assert settings.only_form_gets
    assert not settings.obey_rel_nofollow


def test_every_field_is_documented():
    assert all(field.description for field in ExtractSettings.model_fields.values())


def test_sizes_have_suffixes():
    assert ExtractSettings(max_document="2 MB").max_document == 2_000_000  # type: ignore[arg-type]


def test_negative_limits_are_refused():
    with pytest.raises(ValidationError):
        ExtractSettings(max_outlinks=-1)
