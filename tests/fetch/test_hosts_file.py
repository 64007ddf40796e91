"""/etc/hosts and /etc/resolv.conf."""

import os

from nacre.fetch.dns_exchange import Server
from nacre.fetch.hosts_file import WatchedFile, parse_hosts, parse_resolv_conf


def test_hosts():
    text = "# x\n127.0.0.1\tlocalhost  Vm.\n::1 localhost\n127.0.0.1 localhost # again\n"
    text += "bad name\n10.0.0.1\n"
    assert parse_hosts(text) == {"localhost": ("127.0.0.1", "::1"), "vm": ("127.0.0.1",)}


def test_resolv_conf():
    text = "search test\nnameserver 10.9.0.53\nnameserver fe80::1%eth0\nnameserver\nnameserver x\n"
    assert parse_resolv_conf(text) == (Server("10.9.0.53"), Server("fe80::1%eth0"))


def test_a_file_is_read_again_only_when_it_changes(tmp_path):
    path = tmp_path / "hosts"
    reads = []

    def parse(text: str) -> str:
        reads.append(text)
        return text

    watched = WatchedFile(path, parse)
    assert watched.value == ""
    path.write_text("one")
    assert [watched.value, watched.value] == ["one", "one"]
    assert reads.count("one") == 1
    path.write_text("two")
    os.utime(path, (1, 1))
    assert watched.value == "two"
    path.unlink()
    assert watched.value == ""
