"""Requests that schemathesis makes up from the description of the interface, for twenty seconds."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from nacre.console.access.database import ConsoleDatabase
from nacre.console.access.keys import KeyBook
from nacre.console.access.roles import Role
from nacre.engine.clock import SystemClock
from tests.console.stories.running import console_of, new_job

pytestmark = pytest.mark.console

SECONDS = 20
NOT_ASKED = "^post_jobs|stream"
"""Operations that would start crawls of made-up URLs, and one whose answer does not end."""
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_schema_conformance", "response_headers_conformance", "unsupported_method",
    "ignored_auth", "allow_header_conformance",
)  # fmt: skip
"""What holds for each answer. A body that fits its schema may still be refused, with 422."""


def test_asvs_2_2_made_up_requests_get_the_answers_that_are_described(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    new_job(tmp_path / "crawls" / "demo", "http://127.0.0.1:9/")
    with console_of(tmp_path) as console:
        with closing(ConsoleDatabase(console.state)) as database:
            key = KeyBook(database, SystemClock()).add("made up", Role.ADMIN)
        # The readers of stores load their modules before the clock runs.
        effective = httpx.get(
            f"{console.url}api/v1/jobs/crawls~demo/config/effective", timeout=110, trust_env=False,
            headers={"authorization": f"Bearer {key}"},
        )  # fmt: skip
        assert effective.status_code == 200, effective.text
        done = subprocess.run(
            [
                Path(sys.executable).with_name("schemathesis"), "run",
                f"{console.url}api/v1/openapi.json", "--header", f"Authorization: Bearer {key}",
                "--max-time", str(SECONDS), "--phases", "coverage,fuzzing", "--no-shrink",
                "--generation-database", "none", "--exclude-operation-id-regex", NOT_ASKED,
                "--checks", ",".join(CHECKS), "--continue-on-failure", "--max-examples", "10",
                "--request-timeout", "60", "--no-color",
            ],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-8000:]
        assert "generated" in done.stdout
        assert "Traceback" not in console.log
