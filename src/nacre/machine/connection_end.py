"""Connections that end at a deadline, whatever the server does."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import (
    HTTP_PORT,
    HTTPS_PORT,
    HTTPConnection,
    HTTPException,
    HTTPSConnection,
)
from socket import SHUT_RDWR, create_connection, socket
from ssl import SSLContext
from threading import Event, Timer


@contextmanager
def http_connection(
    host: str, port: int | None, seconds: float, context: SSLContext | None
) -> Iterator[HTTPConnection]:
    """Connect to a server, and close the connection behind the block.

    Args:
        host: Its name or address.
        port: Its port; None for that of the scheme.
        seconds: Time for the connection, and again for the handshake and the whole block.
        context: The settings of TLS; None for `http`.

    Raises:
        OSError: No connection; TimeoutError if it was ended.
    """
    connection: HTTPConnection
    if context is None:
        connection = HTTPConnection(host, port or HTTP_PORT)
    else:
        connection = HTTPSConnection(host, port or HTTPS_PORT, context=context)
    with create_connection((host, connection.port), seconds) as plain:
        try:
            with end_after(seconds, plain):
                connection.sock = plain
                if context is not None:
                    connection.sock = context.wrap_socket(plain, server_hostname=host)
                yield connection
        finally:
            connection.close()


@contextmanager
def end_after(seconds: float, connection: socket) -> Iterator[None]:
    """End a connection if the block takes longer; a server may send a byte before each timeout.

    Args:
        seconds: Time of the whole block.
        connection: The connection, before TLS.

    Raises:
        TimeoutError: The connection was ended.
    """
    ended = Event()

    def end() -> None:
        ended.set()
        with suppress(OSError):  # it ended just now
            twin.shutdown(SHUT_RDWR)

    with connection.dup() as twin:  # TLS takes the other
        timer = Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            yield
        except (OSError, HTTPException):
            if not ended.is_set():
                raise
        finally:
            timer.cancel()
            timer.join()
    if ended.is_set():
        raise TimeoutError(f"no whole answer within {seconds:g} s")
