"""A real DNS server for tests: dnsmasq on a port of loopback."""

import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import dns.exception
import dns.message
import dns.query

from tools.nginx import NginxError, free_port, program


@contextmanager
def name_server(names: Mapping[str, str], folder: Path) -> Iterator[str]:
    """Answer for some names, and that all others do not exist; yields `IP:PORT`."""
    port = free_port()
    command = [str(program("dnsmasq")), "--keep-in-foreground", "--conf-file=/dev/null"]
    command += ["--no-resolv", "--no-hosts", "--bind-interfaces", "--listen-address=127.0.0.1"]
    command += [f"--port={port}", f"--pid-file={folder}/dnsmasq.pid", "--user=", "--group="]
    command += ["--address=/#/", *(f"--address=/{name}/{ip}" for name, ip in names.items())]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        _await(process, next(iter(names)), port)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate()


def _await(process: subprocess.Popen[bytes], name: str, port: int) -> None:
    for _ in range(1000):
        if process.poll() is not None:
            raise NginxError(f"dnsmasq ended: {process.communicate()[1].decode()}")
        try:
            dns.query.udp(dns.message.make_query(name, "A"), "127.0.0.1", timeout=0.2, port=port)
        except (OSError, dns.exception.Timeout):
            time.sleep(0.02)
        else:
            return
    raise NginxError("dnsmasq does not answer")
