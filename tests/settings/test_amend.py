import pytest

from nacre.config.document import read_yaml
from nacre.errors import ConfigError
from nacre.settings.amend import REMOVED, Edit, amended

TEXT = """\
# A job of Nacre.
name: "mine"   # its name

politeness:
  # gentle
  delay: 3     # seconds
scope:
  - rule: reject   # all
  - rule: too-many-hops
    max_hops: 20
sheets:
  slow:
    politeness.delay: 9   # dotted
    fetch: {max_length: 5}
#robots:
#  policy: obey
"""


@pytest.mark.parametrize(
    ("edit", "before", "after"),
    [
        (Edit(("politeness", "delay"), 0.5), "delay: 3     #", "delay: 0.5   #"),
        (Edit(("scope", 1, "max_hops"), 5), "max_hops: 20", "max_hops: 5"),
        (
            Edit(("sheets", "slow", "politeness", "delay"), 1),
            "politeness.delay: 9 ",
            "politeness.delay: 1 ",
        ),
        (
            Edit(("sheets", "slow", "fetch", "max_length"), 7),
            "{max_length: 5}",
            "{max_length: 7}",
        ),
    ],
)
def test_one_value_changes_and_nothing_else(edit: Edit, before: str, after: str):
    assert amended(TEXT, [edit]) == TEXT.replace(before, after)


def test_new_values_join_their_section_or_make_one():
    edits = [
        Edit(("politeness", "in_flight"), 2),
        Edit(("robots", "policy"), "ignore"),
        Edit(("sheets", "fast", "politeness", "delay"), 0),
    ]
    text = amended(TEXT, edits)
    tree = read_yaml(text, "crawl.yaml").tree
    assert tree["politeness"] == {"delay": 3, "in_flight": 2}
    assert tree["robots"] == {"policy": "ignore"}
    assert tree["sheets"]["fast"] == {"politeness": {"delay": 0}}
    for line in ("# gentle", "# seconds", "# all", "# dotted", "#  policy: obey"):
        assert line in text


def test_lists_are_written_whole_where_the_file_has_none():
    said = {"surts": ["http://a.test/"], "sheets": ["slow"]}
    edit = Edit(("sheet_associations", 0), said, [said])
    once = amended("# mine\nname: x\n", [edit])
    assert read_yaml(once, "crawl.yaml").tree == {"name": "x", "sheet_associations": [said]}
    again = amended(once, [edit._replace(path=("sheet_associations", 1))])
    assert read_yaml(again, "crawl.yaml").tree["sheet_associations"] == [said, said]


@pytest.mark.parametrize("text", ["a: {b: 1}\n", "sheets:\n  slow:\n    politeness.delay: 9\n"])
def test_lists_of_mappings_are_written_where_the_file_has_no_list(text: str):
    entry = {"sheets": ["slow"], "surts": ["http://example.org"]}
    changed = amended(text, [Edit(("sheet_associations", 0), entry, [entry])])
    assert read_yaml(changed, "x").tree["sheet_associations"] == [entry]


def test_values_are_taken_away():
    text = amended(TEXT, [Edit(("sheets", "slow"), REMOVED), Edit(("scope", 0), REMOVED)])
    tree = read_yaml(text, "crawl.yaml").tree
    assert tree["sheets"] == {}
    assert tree["scope"] == [{"rule": "too-many-hops", "max_hops": 20}]
    assert amended("name: x\n", [Edit(("sheets", "no"), REMOVED)]) == "name: x\n"


def test_a_file_of_comments():
    text = amended("# nothing yet", [Edit(("politeness", "delay"), 1)])
    assert text.startswith("# nothing yet\n")
    assert read_yaml(text, "crawl.yaml").tree == {"politeness": {"delay": 1}}


def test_what_is_no_yaml_is_left_alone():
    with pytest.raises(ConfigError):
        amended("a: [1\n", [Edit(("name",), "x")])
