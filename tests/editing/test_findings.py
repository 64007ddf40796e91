from nacre.editing.findings import find_in_text
from nacre.store.layout import Layout

WRONG = """\
politeness:
  delya: 5
  min_delay: fast
scope:
  - rule: too-many-hop
robots: {policy: obay}
fetch: [a
chains:
  fetch:
    insert: [{processor: extrct-pdf}]
sheets:
  s: {politeness.dely: 3}
"""
MENDED = """\
politeness:
  delay: 5
  min_delay: 10m
scope:
  - rule: too-many-hops
robots: {policy: obey}
fetch: [a
chains:
  fetch:
    insert: [{processor: extract-pdf}]
sheets:
  s: {politeness.delay: 3}
"""


def test_all_findings_stand_where_they_are(tmp_path):
    (tmp_path / "seeds.txt").write_text("http://a.test/\n")
    found = find_in_text(WRONG, Layout(tmp_path), environ={})
    places = [(one.line, one.column, one.level) for one in found.problems]
    assert places == [
        (2, 3, "settings"),
        (3, 3, "settings"),
        (5, 5, "settings"),
        (6, 10, "settings"),
        (7, 1, "text"),
        (10, 15, "settings"),
        (12, 7, "settings"),
    ]
    assert found.lights == {"text": 1, "settings": 6, "whole": 0}
    assert WRONG[found.problems[0].start : found.problems[0].end] == "delya: 5"


def test_fixes_mend_what_they_are_for():
    text = WRONG
    for finding in reversed(find_in_text(WRONG, None, environ={}).problems):
        for fix in finding.fixes[:1]:
            text = text[: fix.start] + fix.insert + text[fix.end :]
    assert text == MENDED


def test_without_a_job_the_whole_is_not_looked_at():
    assert find_in_text("name: x\n", None, environ={}).lights["whole"] == -1


def test_the_whole_is_looked_at(tmp_path):
    (tmp_path / "seeds.txt").write_text("http://a.test/\n")
    sound = find_in_text("seeds: seeds.txt\n", Layout(tmp_path), environ={})
    assert sound.lights["text"] == sound.lights["settings"] == 0
    missing = find_in_text("seeds: none.txt\n", Layout(tmp_path), environ={})
    assert any(one.level == "whole" for one in missing.problems)


def test_a_long_text_is_refused():
    assert "longer than" in find_in_text("#" * 2_000_001, None).problems[0].message
