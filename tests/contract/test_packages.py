"""What independent programs say of WACZ files and of WARCs of a selection (`make judges`)."""

import subprocess
from pathlib import Path

import pytest

from nacre.catalogue.holdings import open_holding
from nacre.catalogue.lookup import open_index
from nacre.ops.evidence import EvidenceRequest, make_evidence
from nacre.packing.wacz import PackOptions, pack_wacz
from nacre.packing.warc_files import pack_warcs
from nacre.replay.reply import read_exchange
from tests.crawl.replay import replaying
from tests.packing.jobs import CHINESE, ENGLISH, crawl_records, make_job
from tests.packing.test_wacz import delta_crawl
from tests.packing.tls_job import COPY, URL, TlsJob

JUDGES = Path(__file__).parents[2] / ".venv-judges" / "bin"

pytestmark = pytest.mark.skipif(not JUDGES.is_dir(), reason="no judges here: run `make judges`")
OPTIONS = PackOptions(created=1_795_168_800.0, text=True)


def judge(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(JUDGES / command[0]), *command[1:]], cwd=folder, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    ("jobs", "part"),
    [
        pytest.param(1, None, id="a job", marks=pytest.mark.slow),
        pytest.param(2, None, id="two jobs", marks=pytest.mark.slow),
        pytest.param(2, "/copy", id="a selection of two jobs"),
    ],
)
def test_wacz_validates(tmp_path, jobs, part):
    one = make_job(tmp_path / "one")
    two = make_job(tmp_path / "国家图书馆", crawl_records(1000))
    holding = open_holding([one, two][:jobs])
    captures = part and [each for each in open_index(holding).prefix("") if part in each.url]
    pack_wacz(holding, tmp_path / "made.wacz", captures, OPTIONS, lambda _d, _t: None)
    result = judge(tmp_path, "wacz", "validate", "-f", "made.wacz")
    assert "Validation succeeded" in result.stdout, result.stdout + result.stderr


@pytest.mark.slow
def test_wacz_validates_evidence(tmp_path):
    job = TlsJob(tmp_path)
    for url in (URL, COPY):
        target = tmp_path / "evidence.wacz"
        make_evidence(job.root, url, EvidenceRequest(out=target, replace=True))
        result = judge(tmp_path, "wacz", "validate", "-f", target.name)
        assert "Validation succeeded" in result.stdout, result.stdout + result.stderr


@pytest.mark.parametrize("resolve", [True, False])
@pytest.mark.slow
def test_warcio_and_fastwarc_check_a_selection(tmp_path, resolve):
    holding = open_holding([make_job(tmp_path / "one")])
    captures = [each for each in open_index(holding).prefix("") if "chunked" not in each.url]
    target = tmp_path / "some.warc.gz"
    options = PackOptions(created=OPTIONS.created, resolve=resolve)
    pack_warcs(holding, target, captures, options, lambda _d, _t: None)
    assert judge(tmp_path, "warcio", "check", target.name).returncode == 0
    result = judge(tmp_path, "fastwarc", "check", target.name)
    assert result.returncode == 0, result.stdout + result.stderr
    lines = judge(tmp_path, "cdxj-indexer", "--sort", "--post-append", target.name).stdout
    assert lines == (tmp_path / "some.cdxj").read_text()


@pytest.mark.slow
def test_a_wacz_of_py_wacz_is_read_and_packed_again(tmp_path):
    root = make_job(tmp_path / "one")
    (warc,) = root.glob("runs/*/archive/*.warc.gz")
    words = ("--detect-pages", "--text", "-o", "made.wacz", str(warc))
    result = judge(tmp_path, "wacz", "create", *words)
    assert result.returncode == 0, result.stdout + result.stderr
    holding = open_holding([tmp_path / "made.wacz"])
    index = open_index(holding)
    captures = index.prefix("")
    assert len(captures) == 8
    for capture in captures:
        exchange = read_exchange(holding, index, capture, decode=True)
        body = exchange.body.read()
        assert body == CHINESE if "/zh/" in capture.url else body != CHINESE
    for name, selected in (("all", None), ("some", captures)):
        target = tmp_path / f"{name}.wacz"
        made = pack_wacz(holding, target, selected, OPTIONS, lambda _d, _t: None)
        assert (made.captures, made.defects) == (8, ())
        assert "succeeded" in judge(tmp_path, "wacz", "validate", "-f", target.name).stdout


@pytest.mark.crawl
def test_pywb_replays_a_job_a_selection_and_a_difference(tmp_path):
    holding = open_holding([make_job(tmp_path / "one")])
    selected = [each for each in open_index(holding).prefix("") if "/copy" in each.url]
    changed = open_holding([make_job(tmp_path / "changed", delta_crawl())])
    cases = (
        ("all", holding, None, "http://example.test/zh/", "2026-11-20T10:00:02Z", CHINESE),
        ("all", holding, None, "http://example.test/copy", "2026-11-20T10:01:00Z", ENGLISH),
        ("some", holding, selected, "http://example.test/copy", "2026-11-20T10:01:00Z", ENGLISH),
        (
            "new",
            changed,
            None,
            "http://example.test/",
            "2026-11-20T10:01:00Z",
            "新闻".encode("gbk"),
        ),
    )
    for name in ("all", "some", "new"):
        own = [case for case in cases if case[0] == name]
        target = tmp_path / f"{name}.wacz"
        pack_wacz(own[0][1], target, own[0][2], OPTIONS, lambda _d, _t: None)
        folder = tmp_path / f"pywb-{name}"
        folder.mkdir()
        with replaying([target], folder) as replay:
            for _, _, _, url, date, text in own:
                reply = replay.get(url, date)
                assert reply.status == 200
                assert text in reply.body
