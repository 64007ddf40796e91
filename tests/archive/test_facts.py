from nacre.archive.facts import CaptureFacts


def test_nothing_is_known_by_default():
    facts = CaptureFacts()
    assert facts.revisit is None
    assert (facts.via, facts.path, facts.outlinks) == ("", "", ())
