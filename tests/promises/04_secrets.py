"""What is nobody else's business is closed to others, and passwords stand in no URL."""

import asyncio
import gzip
import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from nacre.engine.seeding.seeds import BadSeed, Seed, parse_seed, read_seeds
from nacre.frontier.pending import pending
from nacre.job.imports import ImportMode, ImportOptions, InputLine
from nacre.settings.settings import JobSettings
from nacre.store.local_files import make_private
from tests.cli.site import nacre, site
from tests.job.opened import opened

WORD = "p%40ss wörd-通知"
SPOKEN = "p@ss wörd-通知"
TYPED = "p%40ss%20w%C3%B6rd-%E9%80%9A%E7%9F%A5"
FORMS = [WORD.encode(), SPOKEN.encode(), TYPED.encode(), b"wbvDtnJk"]
PAGES = {"/": '<a href="in.html">in</a>', "/in.html": "<p>inside</p>"}


def modes(root: Path) -> dict[str, int]:
    """Everything below, and the directory itself, that others have rights to."""
    found = {str(path): stat.S_IMODE(path.lstat().st_mode) for path in (root, *root.rglob("*"))}
    return {name: mode for name, mode in found.items() if mode & 0o077}


def written(job: Path) -> dict[Path, bytes]:
    """All that a job wrote outside of what is closed to others."""
    files = (path for path in job.rglob("*") if path.is_file())
    closed = (job / "state", job / "logins")
    return {
        path: gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in files
        if not any(path.is_relative_to(place) for place in closed)
    }


def leaks(job: Path) -> list[str]:
    return [str(path) for path, data in written(job).items() if any(form in data for form in FORMS)]


def with_login(home: str) -> str:
    return home.replace("://", f"://me:{TYPED}@")


def test_the_state_of_a_job_is_for_its_owner_only(tmp_path: Path):
    with site(PAGES) as home:
        done = nacre("crawl", home, "--delay", 0, "--out", tmp_path / "job", "--quiet")
    assert done.code == 0, done.err
    assert modes(tmp_path / "job" / "state") == {}
    assert modes(tmp_path / "job" / "control") == {}
    assert modes(tmp_path / "job" / "latest").keys() != set(), "what is published stays readable"


def test_a_store_that_was_open_to_all_is_closed_at_the_next_start(tmp_path: Path):
    job = tmp_path / "job"
    with site(PAGES) as home:
        assert nacre("crawl", home, "--delay", 0, "--out", job, "--max-pages", 1).code == 4
        for path in ((job / "state"), *(job / "state").rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        (job / "control").chmod(0o755)
        assert nacre("run", job, "--set", "limits.documents=0").code == 0
    assert modes(job / "state") == {}
    assert modes(job / "control") == {}


def test_new_files_of_a_private_directory_are_private(tmp_path: Path):
    """RocksDB makes its files in threads of its own, by the umask of the process."""
    make_private(tmp_path / "state")
    before = os.umask(0o022)
    try:
        (tmp_path / "state" / "sub").mkdir()
        (tmp_path / "state" / "sub" / "file").write_text("x")
    finally:
        os.umask(before)
    if not os.listxattr(tmp_path / "state"):
        pytest.skip("this file system knows no access lists; the directory alone protects")
    assert modes(tmp_path / "state") == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user to look at the job")
def test_who_may_not_read_the_state_gets_a_sentence():
    with tempfile.TemporaryDirectory() as place, site(PAGES) as home:
        Path(place).chmod(0o755)
        job = Path(place, "job")
        assert nacre("crawl", home, "--delay", 0, "--out", job, "--quiet").code == 0
        done = as_nobody("status", str(job))
    assert done.returncode == 2, done.stderr
    assert "only its owner may read it" in done.stderr
    assert "Traceback" not in done.stderr


def as_nobody(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = (
        "import os, sys; os.setgid(65534); os.setuid(65534); sys.argv[0] = 'nacre';"
        "from nacre.cli import main; main()"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True, text=True, env={**os.environ, "HOME": "/"}, check=False,
    )  # fmt: skip


def test_a_password_of_the_command_line_is_a_credential_and_stands_nowhere(tmp_path: Path):
    job = tmp_path / "job"
    with site(PAGES, password=f"me:{SPOKEN}") as home:
        done = nacre("crawl", with_login(home), "--delay", 0, "--out", job)
        assert done.code == 0, done.err
        assert "200: 2" in done.out, "the password was sent"
        said = [done.out, done.err]
        for command in (
            ("explain", job, with_login(home)),
            ("history", job, "url", with_login(home)),
            ("check", job, "--explain", "seeds"),
            ("status", job, "--json"),
            ("report", job, "seeds"),
        ):
            told = nacre(*command)
            assert told.code == 0, (command, told.err)
            said += [told.out, told.err]
    assert "are removed from its seed" in done.err
    assert leaks(job) == []
    assert [text for text in said for form in FORMS if form.decode() in text] == []
    assert modes(job / "logins") == {}
    assert (job / "seeds.txt").read_text() == f"{home}\n"


@pytest.mark.parametrize("listed", ["file", "config"])
def test_a_password_of_a_seed_list_is_a_credential_and_stands_nowhere_else(
    tmp_path: Path, listed: str
):
    job = tmp_path / "job"
    with site(PAGES, password=f"me:{SPOKEN}") as home:
        assert nacre("new", job, home, "--delay", 0).code == 0
        config = job / "crawl.yaml"
        seed = with_login(home)
        if listed == "file":
            config.write_text(config.read_text().replace("seeds.txt", "../mine.txt"))
            (tmp_path / "mine.txt").write_text(f"{seed}\n")
        else:
            config.write_text(config.read_text().replace("seeds.txt", json.dumps([seed])))
        done = nacre("run", job)
        assert done.code == 0, done.err
        assert "200: 2" in done.out
    own = {str(config)} if listed == "config" else set()
    assert set(leaks(job)) == own
    log = (job / "latest" / "logs" / "alerts.log").read_text()
    assert "fetch.credentials" in log
    checked = nacre("check", job)
    assert checked.code == 0
    assert f"{home.rstrip('/')}: a seed has a name or a password in it" in checked.err
    shown = nacre("check", job, "--explain", "seeds").out
    assert not any(form.decode() in shown for form in FORMS)


@pytest.mark.parametrize(
    ("way", "line"),
    [
        (ImportMode.SEEDS, "{}"),
        (ImportMode.SCHEDULE, "{}"),
        (ImportMode.PENDING, "F+ {} L http://b:c@d.test/"),
    ],
)
def test_lines_that_come_in_while_a_job_runs_lose_their_passwords(
    tmp_path: Path, way: ImportMode, line: str
):
    async def play() -> None:
        async with opened(tmp_path, JobSettings(), seeds=()) as session:
            intake = session.editor.importer(ImportOptions(way))
            assert intake.take([InputLine(1, line.format(f"http://me:{TYPED}@a.test/x"))]) == []
            assert [one.password.text for one in session.scheduling.logins.known] == [SPOKEN]
            uris = [entry.uri for entry in pending(session.storing.store)]
        assert next((uri.url, uri.via) for uri in uris) == (
            "http://a.test/x",
            "http://d.test/" if way is ImportMode.PENDING else "",
        )
        async with opened(tmp_path, JobSettings(), seeds=()) as session:
            assert [one.password.text for one in session.scheduling.logins.known] == [SPOKEN]

    asyncio.run(play())
    assert leaks(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "url", "login"),
    [
        ("http://me:pw@a.test/x", "http://a.test/x", ("http://a.test", "me", "pw")),
        ("me:pw@a.test:81", "https://a.test:81/", ("https://a.test:81", "me", "pw")),
        ("https://token@a.test/", "https://a.test/", ("https://a.test", "token", "")),
        ("https://:pw@a.test/", "https://a.test/", ("https://a.test", "", "pw")),
        ("http://me:a@b@[::1]:8/", "http://[::1]:8/", ("http://[::1]:8", "me", "a@b")),
        (f"http://读者:{TYPED}@a.test/", "http://a.test/", ("http://a.test", "读者", SPOKEN)),
    ],
)
def test_what_a_seed_is_without_its_login(text: str, url: str, login: tuple[str, str, str]):
    seed = parse_seed(text)
    assert (seed.url, seed.login) == (url, login)
    assert "@" not in seed.text
    assert "@" not in seed.fallback
    assert "pw" not in repr(seed)


@pytest.mark.parametrize(
    "text",
    [
        "http://me:geheim@a b/",
        "http://me:ge/heim@a.test/",
        "me:geheim@[::1",
        f"http://me:geheim@a.test/{'x' * 3000}",
        "http://m%3Ae:geheim@a.test/",
        f"http://{'m' * 90}:geheim@a b/",
    ],
)
def test_a_line_that_is_no_seed_is_told_without_its_password(text: str):
    (found,) = read_seeds([text])
    assert isinstance(found, BadSeed)
    assert "heim" not in found.text + found.why


def test_directives_lose_theirs_and_surts_stay():
    (one, two) = read_seeds(["+http://me:pw@a.test/x/", "+http://(test,a,:80@me)/x"])
    assert [one[0], two[0]] == ["+http://a.test/x/", "+http://(test,a,:80@me)/x"]
    assert not any(isinstance(each, Seed) for each in (one, two))
