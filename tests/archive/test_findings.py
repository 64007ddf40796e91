from nacre.archive.findings import CODES, CheckFinding, Severity


def test_a_finding_tells_where_and_how_bad():
    finding = CheckFinding("a.warc.gz", 12, "trailer", "x")
    assert finding.severity == Severity.ERROR
    assert str(finding) == "a.warc.gz:12: error trailer: x"


def test_codes_are_words_with_a_meaning():
    assert all(
        code == code.lower() and " " not in code and meaning for code, (_, meaning) in CODES.items()
    )
    assert {severity for severity, _ in CODES.values()} == set(Severity)
