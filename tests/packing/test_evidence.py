"""Evidence of captures, verified; each change of a package is noticed; openssl judges too."""

import gzip
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from nacre.archive.certificates import read_chain
from nacre.archive.fields import digest_of
from nacre.errors import DamageError, JobError
from nacre.ops.evidence import EvidenceRequest, EvidenceResult, make_evidence
from nacre.packing import verify_evidence as module
from nacre.packing.container import WaczFile
from nacre.packing.evidence import CAPTURE_FILE, CHAIN_FILE, REPLY_FILE, SUMS_FILE
from nacre.packing.timestamp import TimestampError
from nacre.packing.verify_evidence import VerifiedEvidence, verify_evidence
from tests.packing.jobs import FORM, make_job
from tests.packing.time_authority import TimeAuthority, serving
from tests.packing.tls_job import BARE, COPY, PLAIN, URL, TlsJob
from tests.replay.archives import PAGE, Archive, record
from tests.replay.test_reply import delta_record


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> TlsJob:
    return TlsJob(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> TimeAuthority:
    return TimeAuthority(tmp_path_factory.mktemp("time") / "authority")


@pytest.fixture(scope="module")
def stamped(
    job: TlsJob, authority: TimeAuthority, tmp_path_factory: pytest.TempPathFactory
) -> EvidenceResult:
    out = tmp_path_factory.mktemp("evidence") / "page.wacz"
    with serving(authority.answer) as url:
        request = EvidenceRequest(out=out, timestamp=url, timestamp_roots=authority.roots)
        return make_evidence(job.root, URL, request, lambda found: f"{found}\nbecause\n")


def outcomes(result: VerifiedEvidence) -> dict[str, str]:
    return {check.name: check.outcome for check in result.checks}


def test_a_page_with_chain_and_timestamp(job, authority, stamped):
    assert (stamped.has_chain, stamped.is_tls) == (True, True)
    assert stamped.timestamp.is_trusted
    assert stamped.citation.title == "国家图书馆 首页"
    result = verify_evidence(stamped.path, authority.roots, job.roots)
    assert set(outcomes(result).values()) == {"ok"}, result.checks
    assert result.is_sound
    assert result.capture is not None
    assert result.capture.citation == stamped.citation
    with zipfile.ZipFile(stamped.path) as package:
        assert package.testzip() is None
        assert read_chain(package.read(CHAIN_FILE)) == job.chain
        assert package.read("evidence/explain.txt") == f"{URL}\nbecause\n".encode()
        for name in ("citation.txt", "citation.bib", "citation.ris", "citation.json", "README.txt"):
            assert package.read(f"evidence/{name}")
        facts = json.loads(package.read(CAPTURE_FILE))
    assert facts["tls"]["verified"] == "not trusted: x"
    assert facts["record_type"] == "response"


def test_plain_tools_verify_it(authority, stamped, tmp_path: Path):
    with zipfile.ZipFile(stamped.path) as package:
        package.extractall(tmp_path)
    done = subprocess.run(
        ["sha256sum", "--strict", "-c", SUMS_FILE], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert authority.judge(tmp_path / SUMS_FILE, tmp_path / REPLY_FILE)
    with (tmp_path / SUMS_FILE).open("ab") as file:
        file.write(b"\n")
    assert not authority.judge(tmp_path / SUMS_FILE, tmp_path / REPLY_FILE)


def test_without_roots_what_cannot_be_proven_is_open(stamped):
    result = verify_evidence(stamped.path)
    assert outcomes(result)["timestamp"] == "open"
    assert outcomes(result)["certificates"] == "open"
    assert result.is_sound


def test_a_timestamp_of_another_service_fails(stamped, tmp_path: Path):
    other = TimeAuthority(tmp_path / "other")
    assert outcomes(verify_evidence(stamped.path, other.roots))["timestamp"] == "failed"


@pytest.mark.parametrize(
    ("url", "captures", "certificates"),
    [(COPY, 3, "ok"), (BARE, 1, "absent"), (PLAIN, 1, "absent")],
)
def test_revisits_and_captures_without_a_chain(job, tmp_path: Path, url, captures, certificates):
    result = make_evidence(job.root, url, EvidenceRequest(out=tmp_path / "e.wacz"))
    assert (result.records, result.has_chain) == (captures, certificates == "ok")
    assert result.is_tls is (url != PLAIN)
    verified = verify_evidence(result.path, None, job.roots)
    assert outcomes(verified) == {
        "package": "ok", "files": "ok", "records": "ok", "capture": "ok", "timestamp": "absent",
        "certificates": certificates,
    }  # fmt: skip
    assert verified.is_sound


def test_a_form_is_packed_with_its_request(tmp_path: Path):
    root, out = make_job(tmp_path / "job"), tmp_path / "e.wacz"
    result = make_evidence(root, "http://example.test/search", EvidenceRequest(out=out))
    assert (result.records, result.is_tls) == (1, False)
    assert verify_evidence(out).is_sound
    with zipfile.ZipFile(out) as package:
        (name,) = (name for name in package.namelist() if name.startswith("archive/"))
        assert FORM in gzip.decompress(package.read(name))


def test_hostile_texts_stay_in_their_files(tmp_path: Path):
    archive = Archive(tmp_path / "job")
    title = "../../etc/passwd\x1b[2J\u202e\n0000  evidence/x"
    archive.add(record(PAGE + f"<title>{title}</title>".encode()))
    out = tmp_path / "e.wacz"
    make_evidence(archive.root, "http://h.test/", EvidenceRequest(out=out), lambda _: title)
    assert verify_evidence(out).is_sound
    with zipfile.ZipFile(out) as package:
        assert all(re.fullmatch(r"[a-z]+/[\w.-]+|[\w.-]+", name) for name in package.namelist())
        assert "\x1b" not in package.read("evidence/citation.txt").decode()
        assert package.read(SUMS_FILE).decode().isascii()


def test_a_difference_is_packed_as_its_page(tmp_path: Path):
    archive = Archive(tmp_path / "job")
    base = PAGE + b"<title>T</title><p>first page"
    block = PAGE + b"<title>T</title><p>second page"
    base_id = "urn:uuid:00000000-0000-4000-8000-00000000000b"
    own_id = b"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-00000000000c>"
    delta = delta_record(base, block, base_id=base_id)
    delta = re.sub(rb"WARC-Record-ID: <[^>]*>", own_id, delta)
    archive.add(record(base, Record_ID=f"<{base_id}>", Block_Digest=digest_of(base)), delta)
    result = make_evidence(archive.root, "http://h.test/", EvidenceRequest(out=tmp_path / "e.wacz"))
    verified = verify_evidence(result.path)
    assert outcomes(verified)["capture"] == "open"
    assert verified.capture is not None
    assert verified.capture.record_type == "metadata"
    assert verified.is_sound


def rewrite(
    source: Path, target: Path, change: Callable[[dict[str, bytes]], object], *, listed: bool
) -> None:
    """Copy a package with changes; `listed`: with the digests that a forger would compute."""
    with zipfile.ZipFile(source) as package:
        files = {name: package.read(name) for name in package.namelist()}
    change(files)
    with target.open("wb") as file, WaczFile(file, 0.0) as wacz:
        for name, data in files.items():
            if name.startswith("datapackage"):
                continue
            if listed and name == SUMS_FILE:
                lines = (f"{each.hash.partition(':')[2]}  {each.path}\n" for each in wacz.files)
                wacz.write(name, "".join(lines).encode())
            else:
                wacz.write(name, data, deflate=not name.startswith("archive/"))
        wacz.finish({})


def in_file(name: str, old: bytes, new: bytes) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        assert old in files[name]
        files[name] = files[name].replace(old, new)

    return change


def flip_warc(files: dict[str, bytes]) -> None:
    (name,) = (name for name in files if name.startswith("archive/"))
    middle = len(files[name]) // 2
    data = bytearray(files[name])
    data[middle] ^= 1
    files[name] = bytes(data)


CHANGES: dict[str, tuple[Callable[[dict[str, bytes]], object], set[str]]] = {
    "date": (in_file(CAPTURE_FILE, b'"date": "2026', b'"date": "2025'), {"capture"}),
    "url": (in_file(CAPTURE_FILE, b'"url": "https://news', b'"url": "https://fake'), {"capture"}),
    "digest": (in_file(CAPTURE_FILE, b'"digest": "sha1:', b'"digest": "sha1:X'), {"capture"}),
    "record": (in_file(CAPTURE_FILE, b"-00000000000", b"-10000000000"), {"capture"}),
    "chain": (in_file(CHAIN_FILE, b"\n-----END", b"AA\n-----END"), {"certificates"}),
    "no chain": (lambda files: files.pop(CHAIN_FILE), {"certificates"}),
    "warc": (flip_warc, {"records"}),
    "nothing": (lambda files: None, set()),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_forger_cannot_keep_the_timestamp(job, authority, stamped, tmp_path: Path, kind):
    change, checks = CHANGES[kind]
    plain, forged = tmp_path / "plain.wacz", tmp_path / "forged.wacz"
    rewrite(stamped.path, plain, change, listed=False)
    rewrite(stamped.path, forged, change, listed=True)
    result = verify_evidence(plain, authority.roots, job.roots)
    assert (outcomes(result)["files"] == "failed") is (kind != "nothing")
    result = verify_evidence(forged, authority.roots, job.roots)
    failed = {name for name, outcome in outcomes(result).items() if outcome == "failed"}
    assert failed >= checks
    assert ("timestamp" in failed) is (kind != "nothing")


def test_entries_that_are_not_listed_and_double_names_fail(stamped, tmp_path: Path):
    for name in ("evidence/more.txt", CAPTURE_FILE):
        path = tmp_path / "more.wacz"
        shutil.copy(stamped.path, path)
        with zipfile.ZipFile(path, "a") as package, pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *_args, **_more: None)
            package.writestr(name, package.read(CAPTURE_FILE))
        failed = {check.name for check in verify_evidence(path).checks if check.outcome == "failed"}
        assert failed == ({"files"} if name != CAPTURE_FILE else {"package"})


@pytest.mark.parametrize("data", [b"", b"no", b"PK\x05\x06" + bytes(18), b"PK\x03\x04" + bytes(90)])
def test_files_that_are_no_evidence(tmp_path: Path, data):
    path = tmp_path / "x.wacz"
    path.write_bytes(data)
    with pytest.raises(JobError, match="no evidence"):
        verify_evidence(path)
    with pytest.raises(JobError, match=r"evidence that can be read: it is not a regular file"):
        verify_evidence(tmp_path)
    with pytest.raises(JobError, match="no such file"):
        verify_evidence(tmp_path / "absent")


def test_hostile_entries_are_bounded(tmp_path: Path, monkeypatch):
    path = tmp_path / "bomb.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr(CAPTURE_FILE, bytes(17 << 20))
    with pytest.raises(JobError, match="too large"):
        verify_evidence(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for number in range(2):
            package.writestr(f"archive/{number}.warc", bytes(1 << 20))
    monkeypatch.setattr(module, "_MOST_UNPACKED", (2 << 20) - 1)
    with pytest.raises(JobError, match="entries are too large"):
        verify_evidence(path)


def test_a_long_list_of_entries_is_not_read(tmp_path: Path, monkeypatch):
    path = tmp_path / "many.wacz"
    with zipfile.ZipFile(path, "w") as package:
        for number in range(11_000):
            package.writestr(str(number), b"")
    monkeypatch.setattr(zipfile.ZipFile, "_RealGetContents", None)
    with pytest.raises(JobError, match="11,000 entries"):
        verify_evidence(path)


def test_only_a_line_feed_ends_a_line_of_the_list(stamped, tmp_path: Path):
    path = tmp_path / "odd.wacz"
    name = "evidence/a\u2028b.txt"

    def change(files: dict[str, bytes]) -> None:
        sums = files.pop(SUMS_FILE)  # the list comes last again
        files.update({name: b"", SUMS_FILE: sums})

    rewrite(stamped.path, path, change, listed=True)
    assert outcomes(verify_evidence(path))["files"] == "ok"


@pytest.mark.parametrize("cut", range(20))
def test_cut_and_damaged_packages_are_noticed(stamped, tmp_path: Path, cut):
    data = bytearray(stamped.path.read_bytes())
    at = len(data) * cut // 20
    data[at] ^= 0x55
    path = tmp_path / "damaged.wacz"
    path.write_bytes(data)
    with suppress(JobError, DamageError):
        result = verify_evidence(path)
        if result.is_sound:
            assert contents(path) == contents(stamped.path)


def test_a_changed_byte_is_named_as_damage(stamped, tmp_path: Path):
    data = bytearray(stamped.path.read_bytes())
    with zipfile.ZipFile(stamped.path) as package:
        place = package.getinfo(CAPTURE_FILE)
    data[place.header_offset + 30 + len(place.filename) + place.compress_size // 2] ^= 0x55
    path = tmp_path / "changed.wacz"
    path.write_bytes(data)
    with pytest.raises(DamageError, match="changed or damaged after it was packed"):
        verify_evidence(path)


def contents(path: Path) -> dict[str, bytes]:
    """The files of a package but for the lists of WACZ, which hold no evidence."""
    with zipfile.ZipFile(path) as package:
        names = (name for name in package.namelist() if not name.startswith("datapackage"))
        return {name: package.read(name) for name in names}


def test_a_refused_timestamp_leaves_no_file(job, authority, tmp_path: Path):
    out = tmp_path / "e.wacz"
    other = TimeAuthority(tmp_path / "other")
    with serving(other.answer) as url:
        request = EvidenceRequest(out=out, timestamp=url, timestamp_roots=authority.roots)
        with pytest.raises(TimestampError, match="not signed"):
            make_evidence(job.root, URL, request)
    with serving(lambda _: b"no") as url, pytest.raises(TimestampError, match="no timestamp"):
        make_evidence(job.root, URL, EvidenceRequest(out=out, timestamp=url))
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_a_file_of_roots_that_is_not_there_is_an_error(stamped, tmp_path: Path):
    with pytest.raises(JobError, match="no certificates"):
        verify_evidence(stamped.path, tls_roots=tmp_path / "roots.pem")
