from nacre.job.registry import HERITRIX, section_named, sections
from nacre.scope.heritrix import CLASSES
from nacre.settings.settings import JobSettings


def test_every_section_is_registered_in_the_order_of_the_settings():
    names = [one.name for one in sections()]
    assert names == [name for name in JobSettings.model_fields if name in names]
    assert set(names) == set(HERITRIX)
    assert all(JobSettings.model_fields[one.name].annotation is one.kind for one in sections())


def test_no_name_means_two_things():
    every = [name for one in sections() for name in one.heritrix]
    assert len(every) == len(set(every))
    assert not set(every) & set(CLASSES)


def test_a_section_by_the_name_of_heritrix():
    assert section_named("FetchHTTP") == "fetch"
    assert section_named("org.archive.modules.extractor.ExtractorHTML") == "extract"
    assert section_named("bdbfrontier") == "frontier"
    assert section_named("politeness") == ""
