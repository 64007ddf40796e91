"""Servers that cannot be had, for promises on what is told of them."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def broken(*, accepts: bool) -> Iterator[str]:
    """A port that refuses, or one that hangs up before it is asked; its URL."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        home = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        if not accepts:
            yield home
            return
        listening.listen()
        stopped = threading.Event()

        def hang_up() -> None:
            while not stopped.is_set():
                try:
                    listening.accept()[0].close()
                except OSError:
                    return

        thread = threading.Thread(target=hang_up, daemon=True)
        thread.start()
        try:
            yield home
        finally:
            stopped.set()
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
