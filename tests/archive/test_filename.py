import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.filename import VARIABLES, check_directory, check_template, file_name

TEMPLATE = "${prefix}-${timestamp17}-${serialno}-${heritrix.pid}~${heritrix.hostname}~${port}"


def test_heritrix_template():
    values = dict.fromkeys(VARIABLES, "x") | {"prefix": "IAH", "serialno": "00007", "pid": "12"}
    assert file_name(TEMPLATE, values) == "IAH-x-00007-12~x~x"


@given(st.dictionaries(st.sampled_from(VARIABLES), st.text(max_size=300)))
def test_no_value_leads_out_of_the_directory(values):
    name = file_name(TEMPLATE, dict.fromkeys(VARIABLES, "") | values)
    assert "/" not in name
    assert "\0" not in name
    assert not name.startswith(".")
    assert 0 < len(name) <= 200


@pytest.mark.parametrize(
    "template",
    ["${prefix}", "${serialno}-${user.home}", "../${serialno}", "a/${serialno}", "a b${serialno}"],
)
def test_templates_that_are_refused(template):
    with pytest.raises(ValueError, match=r"\w"):
        check_template(template)


@pytest.mark.parametrize("directory", ["", "..", "a/../b", "a\0"])
def test_directories_that_are_refused(directory):
    with pytest.raises(ValueError, match="no directory"):
        check_directory(directory)


def test_directories_below_the_run_and_absolute_ones():
    check_directory("archive/a..b")
    check_directory("/disk2/warcs")
