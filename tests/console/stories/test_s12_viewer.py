"""S12: a viewer may look, and nothing else."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from nacre.console.routes import ROUTES
from nacre.job.control import send_command
from nacre.machine.layout import Layout
from nacre.ops.operation import Role
from tests.cli.site import many_pages, site
from tests.console.stories.running import ConsoleProcess, new_job, running_job
from tests.console.stories.steps import ask, open_job
from tests.console.stories.watched import tab

pytestmark = pytest.mark.console

OWN = ("/session", "/login", "/logout", "/sessions", "/password")
"""Ends of paths that a viewer may use: they concern their own session."""


def test_a_viewer_looks_at_a_job_and_changes_nothing(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess
):
    with site(many_pages(50)) as url:
        job = new_job(tmp_path / "crawls/demo", url, "politeness.delay=5s")
        with (
            running_job(job),
            shared.for_jobs(tmp_path / "crawls") as console,
            tab(browser, console, Role.VIEWER) as page,
        ):
            open_job(page, console, "demo")
            assert page.locator("#sentence").inner_text()
            possible = page.locator("button[data-action]:not([aria-disabled=true])")
            assert possible.count() == 0
            for row in ROUTES:
                if row.verb == "GET" or row.role <= Role.VIEWER or row.path.endswith(OWN):
                    continue
                path = row.path.replace("{job}", console.id_of("demo"))
                status, _ = ask(page, row.verb, path, {})
                assert status == 403, f"{row.verb} {row.path}: {status}"
            assert send_command(Layout(job).socket, "status")["overview"]["state"] == "RUNNING"


def test_an_admins_page_is_refused_with_a_page(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess
):
    rows = [row for row in ROUTES if row.verb == "GET" and row.role > Role.VIEWER
            and ".pages." in row.handler.__module__ and "{" not in row.path]  # fmt: skip
    with (
        shared.for_jobs(tmp_path / "crawls") as console,
        tab(browser, console, Role.VIEWER) as page,
    ):
        for row in rows:
            answer = page.goto(f"{console.url.rstrip('/')}{row.path}")
            assert answer is not None
            assert answer.status == 403
            assert page.locator("h1").count() == 1
