"""What a fetch would refuse is refused by `generate`; a list that waits takes other settings."""

import gzip
import json
import shutil
from pathlib import Path

import pytest

from nacre.rounds import segment_commands as segments
from nacre.rounds.segments.frozen_settings import frozen_settings
from nacre.rounds.storage.local import LocalStorage
from tests.cli.site import nacre, site

PUBLIC = "http://图书馆.example/"


@pytest.fixture(scope="module")
def injected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory whose seed is its own, and a public URL that was injected later."""
    made = tmp_path_factory.mktemp("injected") / "c"
    assert nacre("new", made, "http://127.0.0.1:1/", "--allow-net", "127.0.0.0/8").code == 0
    assert nacre("cycle", made, "inject", PUBLIC).code == 0
    return made


@pytest.fixture
def root(injected: Path, tmp_path: Path) -> Path:
    """A copy, which a test may change."""
    return Path(shutil.copytree(injected, tmp_path / "c"))


def versions(root: Path) -> list[str]:
    return [row["step"] for row in json.loads(nacre("cycle", root, "versions", "--json").out)]


@pytest.mark.parametrize(
    "words",
    [
        ("generate",),
        ("generate", "--dry-run"),
        ("generate", "--urls", PUBLIC),
        ("--rounds", "1"),
    ],
)
@pytest.mark.slow
def test_a_list_that_needs_a_contact_is_not_made_without_one(root: Path, words: tuple[str, ...]):
    done = nacre("cycle", root, *words)
    assert (done.code, "fetch.contact" in done.err, "are public" in done.err) == (2, True, False)
    assert "xn--" in done.err or "图书馆" in done.err
    assert versions(root) == ["seeds", "inject"]
    contact = ("--set", "fetch.contact=https://a.test/us")
    if words[0] == "generate":
        assert nacre("cycle", root, *words, *contact).code == 0


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("quotas.source.successes=5", "quotas.source: URIs have no source tags"),
        ("disk.reserve=900TB", "disk.reserve: there is no space for the work of units"),
        ("cookies.load_file=none.txt", "cookies.load_file"),
        ("cycle.scratch=crawl.yaml", "is no directory"),
    ],
)
@pytest.mark.slow
def test_what_units_cannot_obey_is_said_before_there_is_a_list(root: Path, setting: str, said: str):
    words = ["--set", "fetch.contact=https://a.test/us", "--set", setting]
    if setting.startswith("quotas"):
        words += ["--set", "engine.source_tags=false"]
    done = nacre("cycle", root, "generate", *words)
    assert (done.code, said in done.err) == (2, True), done.err
    assert versions(root) == ["seeds", "inject"]


@pytest.mark.slow
def test_settings_that_do_not_concern_the_list_are_set_on_one_that_waits(tmp_path: Path):
    root = tmp_path / "c"
    with site({"/": "<p>page</p>"}) as home:
        assert nacre("new", root, home, "--allow-net", "127.0.0.0/8").code == 0
        assert nacre("cycle", root, "inject").code == 0
        done = nacre("cycle", root, "generate", "--json")
        segment = json.loads(done.out)["segments"][0]
        for wrong, said in (
            ("scope=[accept]", "concerns the list"),
            ("limits.documents=1", "has no effect"),
            ("cycle.fetch.follow=none", "a setting of the job"),
            ("fetch.nothing=1", "no such setting"),
        ):
            done = nacre("cycle", root, "segments", "set", segment, wrong)
            assert (done.code, said in done.err) == (2, True), done.err
        words = ("segments", "set", segment, "fetch.contact=https://图书馆.test/us")
        done = nacre("cycle", root, *words, "robots.policy=ignore")
        assert "other settings in version 3: fetch.contact, robots.policy" in done.out, done.err
        assert "has these values" in nacre("cycle", root, *words).out
        assert nacre("cycle", root, "storage", "check").code == 0, "its digest is recorded"
        done = nacre("cycle", root, "fetch", "--set", "fetch.mail_from=me@a.test")
        assert done.code == 0, done.err
        assert "is fetched: its settings have been used" in nacre("cycle", root, *words).err
    warc = next((root / "cycle/archive").glob("*.warc.gz"))
    text = gzip.decompress(warc.read_bytes()).decode()
    assert "From: me@a.test" in text
    assert "/us)" in text


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.slow
def test_settings_whose_command_is_killed_leave_the_segment_as_it_is(
    root: Path, monkeypatch: pytest.MonkeyPatch, again: bool
):
    """It wrote the files, and committed nothing."""
    contact = ("--set", "fetch.contact=https://a.test/us")
    done = nacre("cycle", root, "generate", *contact, "--json")
    segment = json.loads(done.out)["segments"][0]
    words = ("segments", "set", segment, "robots.policy=ignore")
    with monkeypatch.context() as patch:
        patch.setattr(segments, "record_segment", raise_interrupt)
        assert nacre("cycle", root, *words).code == 130
    folders = sorted((root / "cycle/segments" / segment).glob("conf*"))
    assert [len(list(folder.iterdir())) for folder in folders] == [2, 2]
    assert nacre("cycle", root, "storage", "check").code == 0
    storage = LocalStorage(root / "cycle")
    if not again:
        assert frozen_settings(storage, segment).robots.policy == "obey"
        assert nacre("cycle", root, "fetch").code == 0
        return
    before = len(versions(root))
    assert "other settings in version" in nacre("cycle", root, *words).out
    assert nacre("cycle", root, "storage", "check").code == 0
    assert "has these values" in nacre("cycle", root, *words).out
    assert len(versions(root)) == before + 1


def raise_interrupt(*_args: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_slices_have_the_settings_that_were_set_on_their_segment(root: Path):
    contact = ("--set", "fetch.contact=https://a.test/us")
    assert nacre("cycle", root, "inject", f"{PUBLIC}a", f"{PUBLIC}b").code == 0
    done = nacre("cycle", root, "generate", *contact, "--json")
    segment = json.loads(done.out)["segments"][0]
    assert nacre("cycle", root, "segments", "set", segment, "robots.policy=ignore").code == 0
    done = nacre("cycle", root, "segments", "slice", "1", "--json")
    assert done.code == 0, done.err
    made = json.loads(done.out)[segment][0]
    same = nacre("cycle", root, "segments", "set", made, "robots.policy=ignore")
    assert "has these values" in same.out, same.err
    assert nacre("cycle", root, "storage", "check").code == 0
