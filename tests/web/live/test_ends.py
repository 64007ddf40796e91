import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from nacre.web.live.ends import ProcessEnds, pid_in


def test_the_end_of_a_process_is_noticed_at_once(tmp_path: Path):
    program = [sys.executable, "-c", "input()"]
    with subprocess.Popen(program, stdin=subprocess.PIPE) as process:
        named = tmp_path / "control"
        named.write_text(json.dumps({"socket": "/none", "pid": process.pid}))

        async def scene() -> str:
            over: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            ends = ProcessEnds(over.set_result)
            ends.watch("crawls~demo", named)
            ends.watch("crawls~demo", named)
            process.kill()
            told = await over
            ends.watch("crawls~gone", named.with_name("nothing"))
            ends.close()
            return told

        assert asyncio.run(scene()) == "crawls~demo"


@pytest.mark.parametrize(
    ("text", "pid"),
    [('{"pid": 7}', 7), ('{"pid": -7}', 0), ('{"pid": null}', 0), ("[]", 0), ("{", 0), ("", 0)],
)
def test_a_file_names_a_process_or_none(tmp_path: Path, text: str, pid: int):
    path = tmp_path / "control"
    path.write_text(text)
    assert pid_in(path) == pid
