"""Large records, compressed apart: no file is left open, whatever happens meanwhile."""

import asyncio
import gzip
import threading
from pathlib import Path

import pytest

from nacre.archive.record import Record
from nacre.core.capture import BytesBody
from nacre.errors import StorageError
from nacre.job.visit import large
from nacre.job.visit.large import pack_apart, pack_in

BODY = b"large" * 1000


def record() -> Record:
    return Record(
        "resource", "urn:uuid:1", b"WARC/1.1\r\n\r\n", b"", BytesBody(BODY), len(BODY), "", 0
    )


def test_a_record_becomes_a_member(tmp_path: Path):
    member = asyncio.run(pack_apart(tmp_path, record(), 1))
    assert BODY in gzip.decompress(member.read(0, member.length))
    assert list(tmp_path.iterdir()) == []
    member.close()


def test_a_folder_that_is_gone_is_a_storage_error(tmp_path: Path):
    with pytest.raises(StorageError, match="absent"):
        asyncio.run(pack_apart(tmp_path / "absent", record(), 1))


def test_who_is_cancelled_waits_and_the_member_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    begun, go, members = threading.Event(), threading.Event(), []

    def slow(*args):
        begun.set()
        assert go.wait(10)
        members.append(pack_in(*args))
        return members[-1]

    async def main():
        monkeypatch.setattr(large, "pack_in", slow)
        loop = asyncio.get_running_loop()
        packing = asyncio.ensure_future(pack_apart(tmp_path, record(), 1))
        await loop.run_in_executor(None, begun.wait)
        packing.cancel()
        loop.call_later(0.02, go.set)
        with pytest.raises(asyncio.CancelledError):
            await packing

    asyncio.run(main())
    with pytest.raises(ValueError, match="closed"):
        members[0].read(0, 10)
