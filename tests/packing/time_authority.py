"""A time-stamping service on loopback, whose timestamps `openssl ts` makes."""

import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

_CONFIG = """
[tsa]
default_tsa = service
[service]
serial = {folder}/serial
signer_cert = {folder}/service.pem
signer_key = {folder}/service.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
tsa_name = yes
[service_extensions]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
[ca]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
"""


def openssl(*words: object) -> subprocess.CompletedProcess[bytes]:
    """Run openssl."""
    return subprocess.run(["openssl", *map(str, words)], capture_output=True, check=False)


class TimeAuthority:
    """Keys of a service, and its answers.

    Attributes:
        roots: PEM file with the root certificate.
        queries: The requests that it received.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.roots = folder / "root.pem"
        self.queries: list[bytes] = []
        self._config = folder / "tsa.cnf"
        self._config.write_text(_CONFIG.format(folder=folder))
        (folder / "serial").write_text("01\n")
        key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        self._run(
            *("req", "-x509", *key, "-keyout", folder / "root.key", "-out", self.roots),
            *("-subj", "/CN=Root", "-days", "30", "-config", self._config, "-extensions", "ca"),
        )
        self._run(
            *("req", *key, "-keyout", folder / "service.key", "-out", folder / "service.csr"),
            *("-subj", "/CN=Time service"),
        )
        self._run(
            *("x509", "-req", "-in", folder / "service.csr", "-CA", self.roots),
            *("-CAkey", folder / "root.key", "-out", folder / "service.pem", "-days", "30"),
            *("-extfile", self._config, "-extensions", "service_extensions"),
            *("-set_serial", "7"),
        )

    def _run(self, *words: object) -> None:
        done = openssl(*words)
        assert done.returncode == 0, done.stderr

    def answer(self, query: bytes) -> bytes:
        """Return the answer to a request."""
        self.queries.append(query)
        request, reply = self.folder / "query", self.folder / "reply"
        request.write_bytes(query)
        words = ("-config", self._config, "-queryfile", request, "-out", reply)
        self._run("ts", "-reply", *words)
        return reply.read_bytes()

    def judge(self, data: Path, reply: Path) -> bool:
        """Whether `openssl ts -verify` accepts a timestamp of a file."""
        words = ("-data", data, "-in", reply, "-CAfile", self.roots)
        return openssl("ts", "-verify", *words).returncode == 0


@contextmanager
def serving(
    answer: Callable[[bytes], bytes], status: int = 200, media: str = "application/timestamp-reply"
) -> Iterator[str]:
    """Serve the answers of a service; the block gets its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Content-Type"] == "application/timestamp-query"
            data = answer(query)
            self.send_response(status)
            self.send_header("Content-Type", media)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/tsa"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def dripping() -> Iterator[str]:
    """Answer with a head that never ends, byte by byte; the block gets the address."""
    stopped = Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection = server.accept()[0]
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
                while not stopped.wait(0.02):
                    connection.sendall(b"x")

        thread = Thread(target=answer, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/tsa"
        finally:
            stopped.set()
            thread.join()
