"""A wheel has the compiled catalogue: the console speaks Chinese where no source is installed."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from nacre.messages import message

ROOT = Path(__file__).parents[2]
READ = """
from nacre.web.languages import language
from nacre.languages import FOLDER
from nacre.messages import message
print(language("zh_CN").text(message("frontier.is-empty", "it is empty")))
print(*sorted(path.name for path in FOLDER.rglob("nacre.*")))
print(FOLDER)
"""


@pytest.mark.timeout(300)  # it builds a wheel and starts several interpreters
@pytest.mark.slow
def test_the_wheel_in_a_fresh_environment_has_chinese_messages(tmp_path: Path):
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    fresh = tmp_path / "fresh"
    venv.create(fresh)
    python = str(fresh / "bin" / "python")
    install = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    only = ("--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check", str(wheel))
    subprocess.run((*install, *only), check=True)
    # The libraries are those of this environment; Nacre is not among them, only a path to it.
    environment = {"PYTHONPATH": sysconfig.get_path("purelib"), "PYTHONUTF8": "1"}
    done = subprocess.run(
        (python, "-c", READ), env=environment, cwd=tmp_path, check=True, capture_output=True
    )
    text, files, folder = done.stdout.decode().splitlines()
    assert text == "队列已空"
    assert text != message("frontier.is-empty", "it is empty")
    assert files == "nacre.mo"
    assert Path(folder).is_relative_to(fresh)
