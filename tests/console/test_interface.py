"""Routes, REST fields and queries stay as they are: programs and bookmarks depend on them."""

from tests.console.interface import PLACE, interface_lines


def test_routes_and_fields_are_those_of_the_recorded_interface():
    recorded, lines = set(PLACE.read_text("utf-8").splitlines()), set(interface_lines())
    assert (recorded - lines, lines - recorded) == (set(), set()), (
        "write intended differences with `python -m tests.console.interface`, and list them in "
        "docs/upgrading.md if programs notice"
    )
