"""A helper process that works for ever over a message `busy`, and repeats others."""

from nacre.engine.helper_loop import serve


def answer(data: bytes) -> bytes:
    while data == b"busy":
        pass
    return data


if __name__ == "__main__":
    serve(answer, cpu=0.5)
