"""Files and texts that an operator names by mistake are refused in bounded time and memory."""

import gzip
import json
import os
from pathlib import Path

import pytest

from nacre.config.document import read_yaml
from nacre.config.layer import is_too_deep
from nacre.machine.local_files import open_ordinary, read_ordinary
from nacre.settings.layers import file_layers
from tests.cli.site import Done, nacre


@pytest.fixture
def job(tmp_path: Path) -> Path:
    place = tmp_path / "job"
    assert nacre("new", place, "http://a.test/").code == 0
    return place


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What an operator may name by mistake."""
    place = tmp_path_factory.mktemp("odd")
    os.mkfifo(place / "pipe")
    with (place / "sparse").open("wb") as file:
        file.truncate(1 << 36)
    (place / "bomb.gz").write_bytes(gzip.compress(bytes(8_000_000), 1))
    names = {"device": "/dev/zero", "random": "/dev/urandom", "directory": str(place)}
    return names | {name: str(place / name) for name in ("pipe", "sparse", "bomb.gz")}


PLACES = {
    "seeds": "seeds: {}",
    "cookies": "cookies: {{load_file: {}}}",
    "include": "include: {}",
    "profile": "profile: {}",
    "secret": "fetch: {{proxy: {{file: {}}}}}",
    "sheet": "sheet_associations: [{{sheets: [s], surts_file: {}}}]\nsheets: {{s: {{}}}}",
    "filter": "scope: [{{rule: nutch-url-filter, regex_file: {}}}]",
    "precedence": "frontier: {{uri_precedence: {{file: {}}}}}",
}


KINDS = ("device", "random", "directory", "pipe", "sparse", "bomb.gz")
PAIRS = [(place, kind) for place in PLACES for kind in KINDS]
# A file of cookies is not unpacked: its lines are reported when the crawl begins.
PAIRS.remove(("cookies", "bomb.gz"))


@pytest.mark.parametrize(("place", "kind"), PAIRS)
@pytest.mark.slow
def test_what_is_no_file_of_lines_is_a_problem_of_its_setting(
    job: Path, odd: dict[str, str], place: str, kind: str
):
    (job / "crawl.yaml").write_text(PLACES[place].format(odd[kind]) + "\n")
    done = nacre("check", job)
    assert done.code == 2, done.out
    assert Path(odd[kind]).name in done.err or place in done.err


@pytest.mark.parametrize("kind", ["device", "directory", "pipe", "sparse"])
def test_so_it_is_for_the_job_s_own_file_and_for_what_commands_take(
    job: Path, tmp_path: Path, odd: dict[str, str], kind: str
):
    named = odd[kind]
    refused = [
        nacre("frontier", job, "import", named),
        nacre("migrate", "heritrix", named, "--out", tmp_path / "new"),
        nacre("archive", named, "check") if kind != "directory" else Done(2, "", ""),
    ]
    (job / "crawl.yaml").unlink()
    (job / "crawl.yaml").symlink_to(named)
    refused.append(nacre("check", job))
    assert [done.code != 0 for done in refused] == [True] * len(refused)


def test_an_ordinary_file_is_read_and_its_size_is_bounded(tmp_path: Path):
    path = tmp_path / "通知.txt"
    path.write_bytes(b"12345")
    assert read_ordinary(path, 5) == b"12345"
    with open_ordinary(path) as file:
        assert file.read() == b"12345"
    with pytest.raises(OSError, match="larger than 4 bytes"):
        read_ordinary(path, 4)


def bomb(levels: int = 9) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        inner = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} [{inner}]")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (bomb(), "aliases"),
        (bomb().replace("[", "{k: [").replace("]", "]}"), "aliases"),
        ("seeds: " + "[" * 100_000, "nested"),
        ("seeds: " + "{" * 100_000, "nested"),
        ("seeds: " + "[\n" * 100_000, "nested"),
        ("seeds: " + "[1, " * 100_000, "nested"),
        ("- " * 50_000 + "x", "nested"),
        ("".join(" " * depth + "a:\n" for depth in range(2000)), "nested"),
    ],
)
def test_a_configuration_that_grows_is_refused(text: str, said: str):
    layer = read_yaml(text, "crawl.yaml")
    assert [said in problem.message for problem in layer.problems] == [True]
    assert layer.tree == {}
    assert len(layer.places) < len(text) + 20_000, "it was not gone through to its end"


def test_what_an_operator_writes_is_not_too_deep():
    many = "".join(f"- \\[{n}\n- '[{n}'\n- \"[\"\n- [^{n}\n# [\n" for n in range(190))
    assert not is_too_deep("scope:\n" + many)
    assert not is_too_deep("".join(f"a{n}: [\n" for n in range(400)))
    twice = "a: &a [1, 2]\nb: [*a, *a]\n"
    assert read_yaml(twice, "f").tree == {"a": [1, 2], "b": [[1, 2], [1, 2]]}


@pytest.mark.parametrize(
    "value",
    ["[" * 100_000, "- " * 50_000 + "x", "[" + ", ".join(
        [f"&a{n} [{', '.join([f'*a{n - 1}'] * 9 if n else ['x'] * 9)}]" for n in range(9)]
    ) + "]"],
)  # fmt: skip
@pytest.mark.parametrize("setting", ["seeds", "sheets.s", "limits.documents"])
def test_so_it_is_for_set_and_the_environment(
    job: Path, monkeypatch: pytest.MonkeyPatch, value: str, setting: str
):
    assert nacre("check", job, "--set", f"{setting}={value}").code == 2
    name = "NACRE_" + setting.upper().replace(".", "__")
    if len(value) < 100_000 and "__" in name:
        monkeypatch.setenv(name, value)
        assert nacre("check", job).code == 2


def test_includes_do_not_multiply(tmp_path: Path):
    """Each file includes the next one twice: 2**40 files."""
    for number in range(40):
        below = [f"{number + 1}.yaml"] * 2 if number < 39 else []
        (tmp_path / f"{number}.yaml").write_text(json.dumps({"include": below}))
    layers = file_layers(tmp_path / "0.yaml", tmp_path)
    assert len(layers) <= 1001
    assert any("1000 files" in str(problem) for layer in layers for problem in layer.problems)
