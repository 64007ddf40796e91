"""The storing side of a run."""

import hashlib
from pathlib import Path

from nacre.assembly.storing import site_script_digests
from nacre.settings.settings import JobSettings

SCRIPT = "export default async ({ page }) => {};"


def test_the_site_scripts_of_sheets_are_named_too(tmp_path: Path):
    for name in ("a.js", "b.js"):
        (tmp_path / name).write_text(SCRIPT)
    digest = hashlib.sha256(SCRIPT.encode()).hexdigest()
    settings = JobSettings.model_validate(
        {
            "browser": {"scripts": ["a.js"]},
            "sheets": {"app": {"browser.scripts": ["b.js", "a.js"]}},
        }
    )
    expected = f"a.js sha256:{digest}, b.js sha256:{digest}"
    assert site_script_digests(settings, tmp_path) == expected
    assert site_script_digests(JobSettings(), tmp_path) == ""
