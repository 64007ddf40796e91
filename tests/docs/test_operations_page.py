"""docs/operations.md is true: its commands are run, its settings checked, its files parsed."""

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.config.document import read_yaml
from nacre.settings.settings import JobSettings
from tests.cli.site import many_pages, nacre, site

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "operations"
PAGE = (ROOT / "docs" / "operations.md").read_text()
UNITS = ["nacre@.service", "nacre-recrawl@.service", "nacre-recrawl@.timer"]
OF_THE_CONSOLE = ["nacre-alerts.yml", "nacre-console.nginx.conf", "nacre-console.service"]
"""Tested beside the console (`tests/web/test_peers.py`, `test_metrics.py`)."""


def blocks(section: str) -> list[str]:
    """The indented blocks of a section."""
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    found = re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)
    return ["".join(line[4:] for line in block.splitlines(keepends=True)) for block in found]


def commands(section: str) -> str:
    """Its blocks that are commands, settings left out."""
    return "".join(block for block in blocks(section) if not re.match(r"[a-z]+: ", block))


# ---- the commands

SUDO = '[ "$1 $2" = "-u nacre" ] || exit 9\nshift 2\nexec env "$@"'
PYTHON = """\
[ "$1 $2" = "-m venv" ] || exit 9
mkdir -p "$3/bin"
printf '#!/bin/sh\\necho "pip $*" >> "%s"\\n' "{log}" > "$3/bin/pip"
printf '#!/bin/sh\\nexec "{python}" -m nacre "$@"\\n' > "$3/bin/nacre"
chmod +x "$3/bin/pip" "$3/bin/nacre"
"""
SYSTEMCTL = """\
echo "systemctl $*" >> "{log}"
[ "$1" = enable ] && shift
action=$1 unit=$2
case "$action $unit" in
    "daemon-reload "*) exit 0 ;;
    *.timer) [ -e "{root}/etc/systemd/system/${{unit%@*}}@.timer" ]; exit ;;
esac
job=${{unit#nacre@}}
pid={root}/$job.pid
case $action in
    --now | start)
        command=$(sed -n "s/^ExecStart=//p" "{root}/etc/systemd/system/nacre@.service")
        command=$(echo "$command" | sed "s#%i#$job#; s#/opt/#{root}/opt/#; s#/srv/#{root}/srv/#")
        $command > "{root}/$job.out" 2>&1 &
        echo $! > "$pid"
        for _ in $(seq 2000); do
            [ -e "{root}/srv/crawls/$job/state/control" ] && exit 0
            sleep 0.1
        done
        cat "{root}/$job.out"; exit 1 ;;
    stop)
        kill -TERM "$(cat "$pid")" 2>/dev/null
        while kill -0 "$(cat "$pid")" 2>/dev/null; do sleep 0.1; done ;;
esac
"""


class Server:
    """A machine below a folder: its `/srv`, `/etc` and so on, and what an administrator calls."""

    def __init__(self, root: Path, home: str) -> None:
        self.root, self.home = root, home
        self.log = root / "log"
        self.bin = root / "bin"
        for folder in (self.bin, root / "etc" / "systemd" / "system", root / "srv"):
            folder.mkdir(parents=True)
        facts = {"root": root, "log": self.log, "python": sys.executable}
        self._program("sudo", SUDO)
        self._program("python3", PYTHON.format(**facts))
        self._program("systemctl", SYSTEMCTL.format(**facts))
        self._program("docker", f'echo "docker $*" >> "{self.log}"')
        self._program("useradd", f'echo "useradd $*" >> "{self.log}"; mkdir -p "$3"')

    def _program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.bin / name).chmod(0o755)

    def does(self, section: str) -> str:
        """Run the commands of a section; what they say."""
        script = commands(section)
        assert script, section
        for place in ("srv", "opt", "etc", "backup"):
            script = re.sub(rf"(?<![\w/.-])/{place}/", f"{self.root}/{place}/", script)
            script = re.sub(rf"(?<==)/{place}\b", f"{self.root}/{place}", script)
        script = script.replace("https://news.example/", f"{self.home} --delay 0")
        script = script.replace("https://blogs.example/", f"{self.home} --delay 0")
        paths = os.pathsep.join(filter(None, (str(ROOT / "src"), *sys.path)))
        env = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "PYTHONPATH": paths}
        done = subprocess.run(
            ["sh", "-eu", "-c", script],
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def systemctl(self, action: str, unit: str) -> None:
        subprocess.run([str(self.bin / "systemctl"), action, unit], check=True)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with site(many_pages(6000), slow=0.4) as home:
        machine = Server(tmp_path, home)
        yield machine
        for pid in tmp_path.glob("*.pid"):
            machine.systemctl("stop", f"nacre@{pid.stem}")


@pytest.mark.crawl
@pytest.mark.timeout(300)
def test_the_page_from_its_beginning_to_its_end(server: Server):
    """As an administrator goes through it: install, run, back up, lose, restore, upgrade, watch."""
    server.does("Install it for a separate user")
    assert "useradd --system" in server.log.read_text()
    server.does("Run it as a service")
    job = server.root / "srv" / "crawls" / "news"
    assert "Interrupted." in (server.root / "news.out").read_text()
    server.does("Run it in a container")
    server.systemctl("start", "nacre@news")
    while len((job / "latest" / "logs" / "crawl.log").read_text().splitlines()) < 5:
        time.sleep(0.1)
    server.does("Back up")
    server.systemctl("stop", "nacre@news")
    backup = server.root / "backup" / "news"
    assert (backup / "state" / "store" / "CURRENT").is_file()
    assert not (job / "state" / "checkpoints" / "backup").exists()
    server.does("Restore")
    assert (server.root / "srv" / "crawls" / "news.lost").is_dir()
    server.does("Upgrade")
    assert (job / "state" / "store.old").is_dir()
    assert "pip install --upgrade ." in server.log.read_text()
    server.does("Several jobs")
    said = server.does("Monitor a job")
    assert "NACRE OK - " in said
    text = next(line for line in said.splitlines() if line.startswith("{"))
    overview = json.loads(text)["overview"]
    named = re.findall(r"^\| `(\w+)`(?:, `(\w+)`)?", PAGE, re.MULTILINE)
    keys = {key for pair in named for key in pair if key}
    assert {"state", "finished", "alerts"} <= keys <= overview.keys()


@pytest.mark.parametrize(
    ("overview", "code", "said"),
    [
        (
            {"state": "RUNNING", "finished": 3, "queued": 4, "queues": {"ready": 1}, "alerts": 0},
            0,
            "3 done, 4 waiting",
        ),
        ({"state": "PAUSED", "why": "disk", "alerts": 0}, 1, "WARNING - JOB: PAUSED (disk)"),
        ({"state": "RUNNING", "finished": 1, "queued": 0, "alerts": 2}, 1, "2 alerts"),
        ({"state": "CRASHED", "alerts": 0}, 2, "CRITICAL - JOB: CRASHED"),
        (None, 2, "CRITICAL - nacre: JOB is not a job"),
    ],
)
def test_what_the_check_says(
    tmp_path: Path, overview: dict[str, object] | None, code: int, said: str
):
    answer = json.dumps({"overview": overview, "slowest": []}, separators=(",", ":"))
    fake = tmp_path / "nacre"
    reply = f"echo '{answer}'" if overview else "echo 'nacre: JOB is not a job' >&2; exit 2"
    fake.write_text(f"#!/bin/sh\n{reply}\n")
    fake.chmod(0o755)
    done = subprocess.run(
        ["sh", str(EXAMPLES / "check-nacre"), str(fake), "JOB"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.count("\n")) == (code, 1)
    assert said in done.stdout


# ---- settings


@pytest.mark.parametrize("section", ["Disks", "Rotate logs"])
def test_the_settings_of_the_page_are_right(tmp_path: Path, section: str):
    (text,) = (block for block in blocks(section) if re.match(r"[a-z]+: ", block))
    layer = read_yaml(text, "operations.md")
    assert layer.problems == []
    JobSettings.model_validate(layer.tree)
    assert nacre("new", tmp_path / "job", "http://a.test/").code == 0
    config = tmp_path / "job" / "crawl.yaml"
    names = "|".join(layer.tree)
    kept = [line for line in config.read_text().splitlines() if not re.match(f"(?:{names}):", line)]
    config.write_text("\n".join([*kept, text.replace("/srv/", f"{tmp_path}/srv/")]))
    done = nacre("check", tmp_path / "job")
    assert done.code == 0, done.err


# ---- files


def unit(name: str) -> dict[str, list[tuple[str, str]]]:
    """The sections of a unit, with what they say, in order."""
    found: dict[str, list[tuple[str, str]]] = {}
    section: list[tuple[str, str]] = []
    for line in (EXAMPLES / name).read_text().splitlines():
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), [])
        elif line and line[0] not in "#;":
            key, _, value = line.partition("=")
            section.append((key, value))
    return found


@pytest.mark.parametrize("name", UNITS)
def test_systemd_takes_the_units(tmp_path: Path, name: str):
    """By systemd itself where it is there, else by the rules of its syntax."""
    parser = configparser.RawConfigParser(strict=False, interpolation=None)
    parser.read(EXAMPLES / name)
    assert parser.sections()
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not here; the syntax alone was looked at")
    for each in UNITS:
        text = (EXAMPLES / each).read_text().replace("/opt/nacre/bin/nacre", "/bin/true")
        text = re.sub(r"^(User|Group)=nacre$", r"\1=root", text, flags=re.MULTILINE)
        (tmp_path / each).write_text(text)
        (tmp_path / each.replace("@", "@x")).write_text(text)
    told = subprocess.run(
        ["systemd-analyze", "verify", f"./{name.replace('@', '@x')}"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (told.returncode, told.stderr) == (0, "")


@pytest.mark.parametrize("name", UNITS[:2])
def test_the_services_fit_the_program(name: str):
    said = dict(unit(name)["Service"])
    assert said["User"] != "root"
    command = said["ExecStart"].split()
    assert command[0] == "/opt/nacre/bin/nacre"
    assert nacre(command[1], "--help").code == 0
    codes = {int(code) for code in said["SuccessExitStatus"].split()}
    assert {3, 4, 5} <= codes
    assert (10 in codes) == (command[1] == "recrawl")
    never = {int(code) for code in said.get("RestartPreventExitStatus", "").split()}
    assert 1 not in codes | never
    # With a private /tmp, the control socket needs a place that others see.
    environment = " ".join(v for k, v in unit(name)["Service"] if k == "Environment")
    assert f"TMPDIR=/run/{said['RuntimeDirectory']}" in environment


def test_the_container_is_not_root_and_has_what_it_copies():
    text = (EXAMPLES / "Containerfile").read_text().replace("\\\n", " ")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and line[0] != "#"]
    words = [line[0] for line in lines]
    known = {"FROM", "RUN", "COPY", "ENV", "VOLUME", "WORKDIR", "USER", "STOPSIGNAL"}
    assert set(words) <= known | {"ENTRYPOINT", "CMD"}
    assert words[0] == "FROM"
    said = {line[0]: line[1] for line in lines}
    assert said["USER"].split(":")[0] not in {"0", "root"}
    assert words.index("USER") < words.index("ENTRYPOINT")
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert json.loads(said["ENTRYPOINT"])[0] in scripts
    for word, rest in lines:
        if word == "COPY":
            *sources, _ = rest.split()
            assert [name for name in sources if not (ROOT / name).exists()] == []


def test_the_page_names_files_that_are_there():
    for name in re.findall(r"examples/operations/[\w@.-]+\w", PAGE):
        assert (ROOT / name).exists(), name
    assert sorted(path.name for path in EXAMPLES.iterdir()) == sorted(
        [*UNITS, *OF_THE_CONSOLE, "Containerfile", "check-nacre"]
    )
