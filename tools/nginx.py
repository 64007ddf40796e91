"""nginx over folders, for the tests and the benchmark: own configuration, in the foreground."""

import atexit
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools import cache

_ROOTS = (Path("/"), cache.folder("system"))
_START = 100.0
_LOWEST, _HIGHEST = 10_000, 30_000
_OWN: dict[int, socket.socket] = {}

_CONFIG = """\
daemon off;
master_process off;
worker_rlimit_nofile 32768;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 16384; multi_accept on; }}
http {{
    {types}
    default_type application/octet-stream;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    log_format seen '$msec $request_time $server_addr $host $status $request_method $request_uri';
    access_log {log};
    server_tokens off;
    sendfile on;
    tcp_nodelay on;
    autoindex off;
    keepalive_timeout 300s;
    keepalive_requests 10000000;
    open_file_cache max=8192 inactive=600s;
    server_names_hash_bucket_size 128;
    server_names_hash_max_size 8192;
{servers}
}}
"""


class NginxError(Exception):
    """nginx is missing or does not start; the message says why."""


@dataclass(frozen=True)
class Server:
    """One `server` of nginx.

    Attributes:
        address: Where it listens.
        port: The port there.
        root: The folder that it serves.
        names: Host names that it answers to; none: any.
        directives: Further directives, as nginx reads them.
        certificate: Certificate and key in PEM, for TLS; None for plain HTTP.
    """

    address: str
    port: int
    root: Path
    names: tuple[str, ...] = ()
    directives: str = ""
    certificate: tuple[Path, Path] | None = None

    def block(self) -> str:
        """Return the `server` block."""
        lines = [f"listen {self.address}:{self.port}{' ssl' if self.certificate else ''};"]
        if self.names:
            lines.append(f"server_name {' '.join(self.names)};")
        if self.certificate:
            lines += [f"ssl_certificate {self.certificate[0]};"]
            lines += [f"ssl_certificate_key {self.certificate[1]};"]
        lines += [f"root {self.root};", "index index.html index.htm;", self.directives]
        return "    server { " + "\n        ".join(lines) + " }"


@dataclass(frozen=True)
class Request:
    """One line of the access log.

    Attributes:
        began: When its first byte was read, seconds since the epoch; known to a millisecond.
        ended: When the reply was sent.
        address: The server's address.
        host: The host asked for.
        status: Status of the reply.
        method: Method of the request.
        target: Path and query, as sent.
    """

    began: float
    ended: float
    address: str
    host: str
    status: int
    method: str
    target: str


class Nginx:
    """A running nginx.

    Attributes:
        folder: Its configuration and logs.
        pid: Of its first process, whose children answer.
    """

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.folder = folder
        self._process = process
        self.pid = process.pid

    def requests(self) -> list[Request]:
        """What was asked so far, in the order of the replies."""
        return [_request(line) for line in (self.folder / "access.log").read_text().splitlines()]

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _request(line: str) -> Request:
    ended, took, address, host, status, method, target = line.split(" ", 6)
    began = round(float(ended) - float(took), 3)
    return Request(began, float(ended), address, host, int(status), method, target)


def program(name: str) -> Path:
    """Where a system program is: installed, or unpacked by tools/system.sh.

    Raises:
        NginxError: It is nowhere.
    """
    for folder in ("usr/sbin", "usr/bin"):
        for root in _ROOTS:
            if (root / folder / name).is_file():
                return root / folder / name
    path = shutil.which(name)
    if path is None:
        raise NginxError(f"{name} is missing: run `make system`")
    return Path(path)


def free_port(addresses: Sequence[str] = ("127.0.0.1",), first: int = 0) -> int:
    """Return a port without a listener at this moment, on all of the addresses.

    It is below the ports that the system gives to connections, which could use it meanwhile. It is
    this process's as long as that lives: neither another run of the tests nor a second call is
    given it.

    Args:
        addresses: Where it must be free.
        first: The first port to try, then those above it; 0: any.

    Raises:
        NginxError: None of a hundred was free.
    """
    begin = first or _LOWEST + os.getpid() * 127 % (_HIGHEST - _LOWEST)
    for port in range(begin, begin + 100):
        if all(_bound(address, port) for address in addresses) and _reserved(port):
            return port
    raise NginxError(f"no port is free on {', '.join(addresses)}")


def _reserved(port: int) -> bool:
    """Take a port for this process, among all that ask here: a name that ends with the process."""
    if port in _OWN:
        return False
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(f"\0nacre-port-{port}")
    except OSError:
        name.close()
        return False
    _OWN[port] = name
    atexit.register(name.close)
    return True


def _bound(address: str, port: int) -> int:
    """Return the port that could be bound; 0 for none."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return 0
        bound: int = probe.getsockname()[1]
        return bound


def _types() -> str:
    for root in _ROOTS:
        path = root / "etc/nginx/mime.types"
        if path.is_file():
            return f"include {path};"
    raise NginxError("nginx's mime.types is missing: run `make system`")


@contextmanager
def serving(
    servers: Sequence[Server], folder: Path, *, core: int | None = None, log: bool = False
) -> Iterator[Nginx]:
    """Run nginx while the context lasts.

    Args:
        servers: What it serves.
        folder: An empty folder for its own files.
        core: The processor that it is pinned to; None: any.
        log: Write the access log.

    Raises:
        NginxError: It is missing, or did not start.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "nginx.conf"
    config.write_text(
        _CONFIG.format(
            folder=folder,
            types=_types(),
            log=f"{folder}/access.log seen" if log else "off",
            servers="\n".join(server.block() for server in servers),
        )
    )
    command = [str(program("nginx")), "-p", str(folder), "-c", str(config)]
    if core is not None:
        command = ["taskset", "--cpu-list", str(core), *command]
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    nginx = Nginx(folder, process)
    try:
        _await(process, {(server.address, server.port) for server in servers}, folder)
        yield nginx
    finally:
        nginx.stop()


def _await(process: subprocess.Popen[bytes], places: set[tuple[str, int]], folder: Path) -> None:
    """Until it answers on its first and last place."""
    deadline = time.monotonic() + _START
    for place in (min(places), max(places)):
        while True:
            if process.poll() is not None:
                raise NginxError(f"nginx ended: {(folder / 'output').read_text().strip()}")
            try:
                socket.create_connection(place, 1).close()
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise NginxError(f"nginx does not answer on {place}: {error}") from error
                time.sleep(0.02)
