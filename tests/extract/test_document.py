from nacre.extract.document import Document, Extraction


def test_without_a_base_it_is_the_url():
    assert Document(url="http://a.test/x").base == "http://a.test/x"


def test_a_base_that_is_given_stays():
    assert Document(url="http://a.test/x", base="http://b.test/").base == "http://b.test/"


def test_extractions_share_nothing():
    Extraction().outlinks.append(None)  # type: ignore[arg-type]
    assert Extraction().outlinks == []
