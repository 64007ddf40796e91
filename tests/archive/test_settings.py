import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nacre.archive.settings import (
    VARIABLES,
    WarcSettings,
    check_directory,
    check_template,
    file_name,
)


def test_sizes_may_have_units():
    assert WarcSettings.model_validate({"max_file_size": "500 MB"}).max_file_size == 500_000_000


@pytest.mark.parametrize(
    "values",
    [{"template": "x"}, {"directories": ["../x"]}, {"directories": []}, {"level": 4}, {"nope": 1}],
)
def test_what_cannot_be_is_refused(values):
    with pytest.raises(ValidationError):
        WarcSettings.model_validate(values)


def test_every_setting_is_documented():
    assert all(field.description for field in WarcSettings.model_fields.values())


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
    with pytest.raises(ValueError, match="not a directory"):
        check_directory(directory)


def test_directories_below_the_run_and_absolute_ones():
    check_directory("archive/a..b")
    check_directory("/disk2/warcs")
