"""A published identity on nginx, with the piece of configuration that was written for it."""

import http.client
import ssl
from pathlib import Path

import pytest

from tests.cli.site import nacre
from tests.fetch.certificates import Authority
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl
COMPRESSING = "gzip on; gzip_types *; gzip_min_length 1; add_header X-Own 'a';"
WELL_KNOWN = "/.well-known/http-message-signatures-directory"


@pytest.mark.parametrize(
    ("path", "at"), [("", WELL_KNOWN), ("/crawler/keys.json", "/crawler/keys.json")]
)
def test_nginx_publishes_an_identity(tmp_path: Path, path: str, at: str):
    authority, port = Authority(tmp_path), free_port()
    key, out = tmp_path / "密钥.pem", tmp_path / "out"
    place = ("--key", key, "--directory", f"https://127.0.0.1:{port}{path}")
    assert nacre("identity", "new", key).code == 0
    assert nacre("identity", "rotate", key, "--after", "0").code == 0
    purpose = 'An archive of "public" web sites: 网页存档, $5 {a} `b`'
    done = nacre("identity", "publish", out, *place, "--contact", "ops@a.test",
                 "--purpose", purpose, "--address", "192.0.2.0/28")  # fmt: skip
    assert done.code == 0, done.err
    server = Server(
        "127.0.0.1", port, out / "site",
        directives=f"{COMPRESSING} include {out / 'server' / 'nginx.conf'};",
        certificate=authority.files(tmp_path, "127.0.0.1"),
    )  # fmt: skip
    with serving([server], tmp_path / "nginx"):
        check = nacre("identity", "check", *place, "--roots", authority.roots)
        context = ssl.create_default_context(cafile=authority.roots)
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context)
        encodings = {}
        for name in (at, "/crawler/"):
            connection.request("GET", name, headers={"Accept-Encoding": "gzip"})
            with connection.getresponse() as reply:
                encodings[name] = reply.getheader("Content-Encoding")
                reply.read()
        connection.close()
    assert check.code == 0, check.out + check.err
    found = [tuple(line.split()[:2]) for line in check.out.splitlines()]
    names = ["directory", "clock", "key", "key", "proof", "proof", "page", "addresses", "contact"]
    assert found == [(name, "ok") for name in names]
    assert encodings == {at: None, "/crawler/": "gzip"}  # else its digest would not fit
