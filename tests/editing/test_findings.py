import pytest

from nacre.editing.findings import CheckLevel, find_in_text
from nacre.machine.layout import Layout

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
    assert found.lights == {"text": 1, "settings": 6, "whole": -1}
    assert WRONG[found.problems[0].start : found.problems[0].end] == "delya: 5"


def test_fixes_mend_what_they_are_for():
    text = WRONG
    for finding in reversed(find_in_text(WRONG, None, environ={}).problems):
        for fix in finding.fixes[:1]:
            text = text[: fix.start] + fix.insert + text[fix.end :]
    assert text == MENDED


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ("scope: [\n", 1),
        ("extract: {x: 1\n", 1),
        ("}\n", 1),
        ("]\n", 1),
        ("name: 'a\n", 1),
        ("name: *a\n", 1),
        ("engine:\n\tparallel: 3\n", 2),
        ("name: a\x07b\n", 1),
        ("name: 图书馆\x00\n", 1),
        ("just words\n", 1),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_syntax_error_hides_nothing_and_no_light_is_green(tmp_path, broken, line, is_first):
    (tmp_path / "seeds.txt").write_text("http://127.0.0.1/\n")
    rest = "politeness: {dealy: 1}\nlimits: {documents: many}\n"
    text = broken + rest if is_first else rest + broken
    found = find_in_text(text, Layout(tmp_path), environ={})
    by_level = {level: [one.line for one in found.problems if one.level == level]
                for level in CheckLevel}  # fmt: skip
    assert by_level[CheckLevel.TEXT][0] == line + (0 if is_first else 2)
    ahead = broken.count("\n") if is_first else 0
    assert by_level[CheckLevel.SETTINGS] == [ahead + 1, ahead + 2], found.problems
    assert found.lights["settings"] == 2
    alone = find_in_text(broken, Layout(tmp_path), environ={})
    assert alone.lights["text"] >= 1
    assert alone.lights["settings"] != 0
    assert alone.lights["whole"] != 0


def test_a_problem_of_settings_leaves_the_whole_unknown(tmp_path):
    (tmp_path / "seeds.txt").write_text("http://127.0.0.1/\n")
    found = find_in_text("limits: {documents: many}\n", Layout(tmp_path), environ={})
    assert found.lights == {"text": 0, "settings": 1, "whole": -1}


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
