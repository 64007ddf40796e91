"""Connections end at their deadline, whatever the other side does."""

import ssl
from http.client import HTTPResponse
from socket import create_server, socketpair

import pytest

from nacre.machine.connection_end import end_after, http_connection


def test_a_silent_connection_ends():
    near, far = socketpair()
    with (
        near,
        far,
        pytest.raises(TimeoutError, match=r"answer within 0\.05 s"),
        end_after(0.05, near),
    ):
        near.recv(1)


def test_an_answer_in_time_is_whole_and_other_errors_stay():
    near, far = socketpair()
    with near, far:
        with end_after(60, near):
            far.sendall(b"a")
            assert near.recv(1) == b"a"
        with pytest.raises(ConnectionResetError), end_after(60, near):
            raise ConnectionResetError


def test_a_silent_handshake_ends():
    near, far = socketpair()
    with near, far, pytest.raises(TimeoutError, match="no whole answer"), end_after(0.05, near):
        ssl.create_default_context().wrap_socket(near, server_hostname="a.test")


@pytest.mark.parametrize("context", [None, ssl.create_default_context()])
def test_a_server_that_sends_nothing(context: ssl.SSLContext | None):
    with create_server(("127.0.0.1", 0)) as server, pytest.raises(TimeoutError):
        reply_of(server.getsockname()[1], context)


def reply_of(port: int, context: ssl.SSLContext | None) -> HTTPResponse:
    with http_connection("127.0.0.1", port, 0.05, context) as near:
        near.request("GET", "/")
        return near.getresponse()


def test_no_server():
    with pytest.raises(ConnectionRefusedError), http_connection("127.0.0.1", 1, 1, None):
        pass
