import json

from nacre_migrate.report import FileNote, Flag, MigrationOutcome, MigrationReport, ReportedItem

REPORT = MigrationReport(
    "nutch",
    [
        ReportedItem("a", "1", "n.xml", 3, MigrationOutcome.MAPPED, "uri.max_length"),
        ReportedItem("b", "x " * 60, "n.xml", 8, MigrationOutcome.DEFAULTED, note="its default"),
        ReportedItem(
            "c", "1", "n.xml", 9, MigrationOutcome.FLAGGED, "", "no index", Flag.NO_EQUIVALENT
        ),
        ReportedItem(
            "d", "1", "n.xml", 10, MigrationOutcome.FLAGGED, "fetch.contact", "empty", Flag.CHECK
        ),
    ],
    [FileNote("f.txt", "copied")],
    ["name a contact"],
)


def test_counts_sum_to_the_input():
    counts = REPORT.counts()
    assert counts == {"mapped": 1, "defaulted": 1, "flagged": 2}
    assert sum(counts.values()) == REPORT.as_json()["counts"]["input"] == 4


def test_text_names_what_needs_the_eye_first_with_file_and_line():
    text = REPORT.text()
    assert "n.xml:10: d = 1 -> fetch.contact; empty" in text
    order = [text.index(word) for word in ("To do", "Needs your eye", "No equivalent", "Files")]
    assert order == sorted(order)
    assert all(len(line) < 120 for line in text.splitlines())


def test_parts_without_lines_are_left_out():
    assert MigrationReport("nutch").text() == (
        "Migration from nutch\n\n0 properties: 0 mapped, 0 defaulted, 0 flagged\n"
    )


def test_json_is_plain_data():
    assert json.loads(json.dumps(REPORT.as_json()))["properties"][3]["flag"] == "needs your eye"


def test_one_of_a_kind_is_not_plural():
    kinds = ("bean", "entry", "element", "override", "property", "property")
    found = [
        ReportedItem("a", "1", "n.xml", 3, MigrationOutcome.MAPPED, kind=kind) for kind in kinds
    ]
    things = "1 bean, 1 entry of a sheet, 1 other element, 1 override, 2 properties: "
    assert MigrationReport("heritrix", found).summary().startswith(things)
