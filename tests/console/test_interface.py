"""Routes, REST fields and queries stay as they are: programs and bookmarks depend on them."""

from tests.console.interface import PLACE, interface_lines


def test_routes_and_fields_are_those_of_the_recorded_interface():
    recorded = PLACE.read_text("utf-8").splitlines()
    lines = interface_lines()
    missing = [line for line in recorded if line not in set(lines)]
    added = [line for line in lines if line not in set(recorded)]
    assert (missing, added) == ([], []), (
        "write intended differences with `python -m tests.console.interface`, and list them in "
        "docs/upgrading.md if programs notice"
    )
    assert lines == recorded
