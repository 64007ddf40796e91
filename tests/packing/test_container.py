"""The ZIP file of a WACZ: whole or not at all, named digests, names of resources."""

import errno
import hashlib
import json
import os
import subprocess
import sys
import zipfile

import pytest

from nacre.errors import JobError, StorageError
from nacre.machine.local_files import lock_file
from nacre.packing.container import WaczFile, whole_file

MOMENT = 1_795_168_800.0


def pack(path, *names: str, moment: float = MOMENT) -> zipfile.ZipFile:
    with whole_file(path) as file, WaczFile(file, moment) as wacz:
        for name in names:
            wacz.write(name, name.encode(), deflate=False)
        wacz.finish({"title": "中文"})
    return zipfile.ZipFile(path)


def test_the_list_has_the_digest_of_every_file(tmp_path):
    with pack(tmp_path / "a.wacz", "archive/A.warc.gz", "logs/a.warc.gz") as wacz:
        assert wacz.testzip() is None
        package = json.loads(wacz.read("datapackage.json"))
        assert package["wacz_version"] == "1.1.1"
        assert package["title"] == "中文"
        for each in package["resources"]:
            data = wacz.read(each["path"])
            assert each["hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
            assert each["bytes"] == len(data)
        assert [each["name"] for each in package["resources"]] == ["a.warc.gz", "2-a.warc.gz"]
        digest = json.loads(wacz.read("datapackage-digest.json"))
        whole = hashlib.sha256(wacz.read("datapackage.json")).hexdigest()
        assert digest == {"path": "datapackage.json", "hash": f"sha256:{whole}"}


@pytest.mark.parametrize("moment", [-5.0, 0.0, MOMENT, 1e12])
def test_any_clock_gives_a_time_that_zip_has(tmp_path, moment):
    with pack(tmp_path / "a.wacz", "a.txt", moment=moment) as wacz:
        assert 1980 <= wacz.infolist()[0].date_time[0] <= 2107


def test_the_same_is_made_each_time(tmp_path):
    pack(tmp_path / "a.wacz", "a.txt").close()
    pack(tmp_path / "b.wacz", "a.txt").close()
    assert (tmp_path / "a.wacz").read_bytes() == (tmp_path / "b.wacz").read_bytes()


def test_names_that_collide_get_the_name_of_their_job(tmp_path):
    with whole_file(tmp_path / "a.wacz") as file, WaczFile(file, MOMENT) as wacz:
        paths = []
        for prefix in ("one", "two/..", "two/..", "two/.."):
            path = wacz.unused_path("archive", "a.warc.gz", prefix)
            wacz.write(path, b"")
            paths.append(path.removeprefix("archive/"))
    assert paths == ["a.warc.gz", "two_..-a.warc.gz", "two_..-2-a.warc.gz", "two_..-3-a.warc.gz"]


def test_an_existing_file_is_only_replaced_on_request(tmp_path):
    path = tmp_path / "a.wacz"
    path.write_bytes(b"before")
    with pytest.raises(JobError, match="exists"), whole_file(path):
        pass
    assert path.read_bytes() == b"before"
    with whole_file(path, replace=True) as file:
        file.write(b"after")
    assert path.read_bytes() == b"after"
    assert [each.name for each in tmp_path.iterdir()] == ["a.wacz"]


def test_two_processes_do_not_write_one_file(tmp_path):
    lock = lock_file(tmp_path / ".a.wacz.part")
    with pytest.raises(JobError, match="another process"), whole_file(tmp_path / "a.wacz"):
        pass
    assert lock is not None
    os.close(lock)
    with whole_file(tmp_path / "a.wacz") as file:
        file.write(b"x")
    assert (tmp_path / "a.wacz").read_bytes() == b"x"


def test_a_failure_leaves_nothing(tmp_path):
    def write() -> None:
        with (
            whole_file(tmp_path / "a.wacz") as file,
            WaczFile(file, MOMENT) as wacz,
            wacz.entry("a.txt") as sink,
        ):
            sink.write(b"half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(StorageError, match=r"ENOSPC.*Free some space"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_leaves_no_half_file(tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from nacre.packing.container import whole_file\n"
        "with whole_file(Path(sys.argv[1])) as file:\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "a.wacz"
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert not path.exists()
    with whole_file(path) as file:
        file.write(b"whole")
    assert path.read_bytes() == b"whole"
    assert [each.name for each in tmp_path.iterdir()] == ["a.wacz"]


def test_the_file_may_be_read_by_others(tmp_path):
    mask = os.umask(0o022)
    try:
        with whole_file(tmp_path / "a.wacz"):
            pass
    finally:
        os.umask(mask)
    assert (tmp_path / "a.wacz").stat().st_mode & 0o777 == 0o644


def test_an_entry_with_fields_has_some_in_the_directory(tmp_path):
    """Else wabac.js takes the fields in front of an entry for its first bytes."""
    path = tmp_path / "a.wacz"
    with whole_file(path) as file, WaczFile(file, MOMENT) as wacz:
        with wacz.entry("large.txt") as sink:
            sink.write(b"large")
        wacz.write("small.txt", b"small")
    data = path.read_bytes()
    with zipfile.ZipFile(path) as packed:
        for info in packed.infolist():
            local = int.from_bytes(data[info.header_offset + 28 :][:2], "little")
            assert bool(local) is bool(info.extra)
