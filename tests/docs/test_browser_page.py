"""What docs/browser.md and docs/recording.md say of settings is true: they exist, and are valid.

The commands of both pages have tests in tests/cli/test_page.py, tests/job/test_recording.py and
tests/ops.
"""

import re
from pathlib import Path

import pytest

from nacre.browser.settings import BrowserSettings
from nacre.config.document import read_yaml
from nacre.settings.settings import JobSettings

ROOT = Path(__file__).parent.parent.parent
PAGE = "".join((ROOT / "docs" / name).read_text("utf-8") for name in ("browser.md", "recording.md"))


def test_each_setting_of_the_page_exists():
    named = set(re.findall(r"\bbrowser\.([a-z_]+)\b(?!\.md)", PAGE)) - {"md"}
    assert {"use", "command"} <= named
    assert named <= BrowserSettings.model_fields.keys()


@pytest.mark.parametrize("example", re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
def test_each_example_of_settings_is_valid(example: str):
    tree = read_yaml(example, "browser.md").tree
    assert JobSettings.model_validate(tree).model_fields_set == tree.keys()
