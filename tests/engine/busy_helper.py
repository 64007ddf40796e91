"""A helper process: works for ever over `busy`, tells its `folder`, and repeats other messages."""

import tempfile

from nacre.engine.helper_loop import serve


def answer(data: bytes) -> bytes:
    while data == b"busy":
        pass
    return tempfile.gettempdir().encode() if data == b"folder" else data


if __name__ == "__main__":
    serve(answer, cpu=0.5)
