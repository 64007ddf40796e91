import errno
import ssl

import pytest

from nacre.fetch.dial import describe


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "Connection refused (errno 111)"),
        (OSError(errno.EHOSTUNREACH, "No route\nto host"), "No route to host (errno 113)"),
        (ConnectionResetError(), "ConnectionResetError"),
        (OSError("odd\r\ntext"), "odd text"),
        (ssl.SSLError(1, "[SSL] wrong\nversion"), "[SSL] wrong version"),
    ],
)
def test_an_error_is_one_line_for_the_log(error: OSError, text: str) -> None:
    assert describe(error) == text
