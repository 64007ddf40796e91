import pytest

from tools.reference import FOLDER, pages


@pytest.mark.parametrize("name", ["settings.md", "commands.md", "statuses.md", "expressions.md"])
def test_the_reference_is_current(name: str):
    text = (FOLDER / name).read_text("utf-8")
    assert text == pages()[name], "stale: make reference"
