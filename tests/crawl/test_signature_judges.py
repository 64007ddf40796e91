"""Independent verifiers accept the requests of a crawl, and refuse what was changed.

They are `http-message-signatures` of PyPI and `web-bot-auth` of npm, each in an environment of its
own. The second one (0.1.3) knows only the older form of Signature-Agent.
"""

import json
import shutil
import subprocess
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.raw_site import raw_site
from tests.crawl.test_identity import run_signed
from tests.wire.signatures import PUBLIC, received
from tools import cache
from tools.judges import prepare

pytestmark = [pytest.mark.crawl, pytest.mark.timeout(300)]
ROOT = Path(__file__).parent.parent.parent
HERE = Path(__file__).parent / "signature_judges"
JWK = {"kty": "OKP", "crv": "Ed25519", "x": urlsafe_b64encode(PUBLIC).rstrip(b"=").decode()}
Judge = Callable[[Sequence[dict[str, Any]]], list[str]]


def ask(command: list[str | Path], requests: Sequence[dict[str, Any]], folder: Path) -> list[str]:
    done = subprocess.run(
        command, cwd=folder, input="".join(json.dumps(request) + "\n" for request in requests),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def of_pypi() -> Judge:
    commands = prepare(ROOT, "requirements-signatures.lock", ".venv-signatures")
    return lambda requests: ask([commands / "python", HERE / "verify.py"], requests, HERE)


@pytest.fixture(scope="module")
def of_npm() -> Judge:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    folder = cache.folder("signature-judges")
    with cache.locked(folder):
        shutil.copytree(HERE, folder, dirs_exist_ok=True)
        subprocess.run([npm, "ci", "--ignore-scripts", "--silent"], cwd=folder, check=True)
    return lambda requests: ask(["node", "verify.mjs"], requests, folder)


def request_of(head: bytes) -> dict[str, Any]:
    seen = received(head)
    return {
        "url": f"http://{seen.authority}{seen.target}",
        "method": seen.method,
        "headers": {name.lower(): value for name, value in seen.fields},
        "jwk": JWK,
        "key": b64encode(PUBLIC).decode(),
    }


def signed_requests(folder: Path, form: str) -> list[dict[str, Any]]:
    """The signed requests of a crawl, as the servers saw them."""
    with raw_site() as site, raw_site("127.0.0.2") as other:
        run_signed(folder / "job", site, other, form=form)
    heads = [head for head in site.heads + other.heads if b"Signature:" in head]
    assert len(heads) > 5
    return [request_of(head) for head in heads]


def changed(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The request with another byte, method, authority, agent or time."""
    fields = request["headers"]
    place = fields["signature"].index(":") + 5
    byte = "A" if fields["signature"][place] != "A" else "B"
    others = {
        "signature": fields["signature"][:place] + byte + fields["signature"][place + 1 :],
        "signature-agent": fields["signature-agent"].replace("crawler.test", "evil.test"),
        "signature-input": fields["signature-input"].replace(";expires=1", ";expires=2"),
    }
    return [
        *({**request, "headers": {**fields, name: value}} for name, value in others.items()),
        {**request, "method": "DELETE"},
        {
            **request,
            "url": request["url"].replace("127.0.0.", "127.1.0."),
            "headers": {**fields, "host": fields["host"].replace("127.0.0.", "127.1.0.")},
        },
        {**request, "url": request["url"] + "x"},
        {**request, "url": request["url"] + ("&x" if "?" in request["url"] else "?x=1")},
    ]


@pytest.mark.parametrize("form", ["dictionary", "string"])
def test_http_message_signatures_of_pypi(tmp_path: Path, of_pypi: Judge, form: str):
    requests = signed_requests(tmp_path, form)
    assert of_pypi(requests) == ["accepted"] * len(requests)
    assert accepted_changes(of_pypi, requests) == []
    (verdict,) = of_pypi([expired(requests[0])])
    assert is_expiry(verdict)


def test_web_bot_auth_of_npm(tmp_path: Path, of_npm: Judge):
    requests = signed_requests(tmp_path, "string")
    assert of_npm(requests) == ["accepted"] * len(requests)
    assert accepted_changes(of_npm, requests) == []
    (verdict,) = of_npm([expired(requests[0])])
    assert is_expiry(verdict)


def accepted_changes(verify: Judge, requests: list[dict[str, Any]]) -> list[str]:
    """The verdicts on changed requests that are no refusals."""
    others = [other for request in requests for other in changed(request)]
    verdicts = verify(others)
    assert len(verdicts) == len(others)
    return [verdict for verdict in verdicts if not verdict.startswith("refused: ")]


def is_expiry(verdict: str) -> bool:
    """A signature was refused because its time has passed."""
    return "expire" in verdict or "past" in verdict


def expired(request: dict[str, Any]) -> dict[str, Any]:
    """A request whose signature ended long ago."""
    fields = dict(request["headers"])
    signature = fields["signature-input"]
    begin = signature.index(";expires=") + len(";expires=")
    fields["signature-input"] = signature[:begin] + "1000000000" + signature[begin + 10 :]
    return {**request, "headers": fields}
