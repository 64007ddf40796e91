"""A web application that a process on the loopback serves: its start, and its replies."""

import http.client
import socket
import time

from bench.worlds.world import Reply

_HEADERS = ("Content-Type", "Location")
_WAIT = 10.0
"""Seconds until a process has to answer."""


def fetch_reply(port: int, path: str) -> Reply:
    """Return the reply of the application, with its links pointing to the server of the world.

    Args:
        port: Port of the process on the loopback.
        path: Path of the request, with its query.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    headers = [(name, answer.getheader(name) or "") for name in _HEADERS]
    own = f"http://127.0.0.1:{port}"
    return Reply(
        answer.status,
        tuple((name, value.replace(own, "{origin}")) for name, value in headers if value),
        body.replace(own.encode(), b""),
    )


def await_port(port: int, name: str) -> None:
    """Wait until the process of an application answers.

    Args:
        port: Its port on the loopback.
        name: Its name, for the error.

    Raises:
        RuntimeError: It does not answer in time.
    """
    deadline = time.monotonic() + _WAIT
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.05)
    raise RuntimeError(f"{name} does not answer on port {port}")
