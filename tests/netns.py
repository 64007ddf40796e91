"""A network of its own for a test that names public or private addresses: nothing leaves it.

The test runs a module by `run_isolated`; the module begins with `bring_up`, and serves and asks at
whatever addresses it brought up. The machine's own networks cannot be reached from there.
"""

import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterable
from fcntl import ioctl
from pathlib import Path

import pytest

_SIOCSIFFLAGS = 0x8914
_SIOCSIFADDR = 0x8916
_UP_AND_RUNNING = 0x41


def run_isolated(module: str, *arguments: object) -> str:
    """Run a Python module in a network namespace without a way out; returns what it printed.

    A system that has none skips the test; a module that fails is a failed test.
    """
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("there is no unshare here, so no network to keep the test in")
    enter = [unshare, "--net"] if os.geteuid() == 0 else [unshare, "--net", "--map-root-user"]
    if subprocess.run([*enter, "true"], capture_output=True).returncode:
        pytest.skip("this system gives no network namespace to keep the test in")
    command = [*enter, sys.executable, "-m", module, *map(str, arguments)]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def bring_up(addresses: Iterable[str]) -> None:
    """Give the loopback interface of this namespace 127.0.0.1 and other IPv4 addresses."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for number, address in enumerate(addresses):
            name = f"lo:{number}".encode()
            packed = struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
            ioctl(control, _SIOCSIFADDR, struct.pack("16s16s", name, packed))
        ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _UP_AND_RUNNING))
