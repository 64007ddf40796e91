"""A helper process: it repeats messages, and does something else over some of them.

`busy`: it works for ever. `folder`: it answers with its folder. `pid`: with its number.
`killed FILE` and `once FILE`: it is killed, by the latter once; FILE gets a letter each time.
"""

import os
import signal
import tempfile
from pathlib import Path

from nacre.engine.helper_loop import serve


def answer(data: bytes) -> bytes:
    while data == b"busy":
        pass
    word, _, file = data.partition(b" ")
    if word in {b"killed", b"once"}:
        deaths = Path(os.fsdecode(file))
        before = deaths.read_bytes() if deaths.exists() else b""
        if word == b"killed" or not before:
            deaths.write_bytes(before + b"x")
            os.kill(os.getpid(), signal.SIGKILL)
    if data == b"pid":
        return str(os.getpid()).encode()
    return tempfile.gettempdir().encode() if data == b"folder" else data


if __name__ == "__main__":
    serve(answer, cpu=0.5)
