"""An object store on the loopback: moto's server, in a process of its own."""

import subprocess
import sys
import time
import urllib.error
import urllib.request
from uuid import uuid4

import pytest

from tools.nginx import free_port


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


@pytest.fixture(scope="session")
def object_server():
    """URL of a running server; it ends with the tests."""
    url = f"http://127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", url.rpartition(":")[2]]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 200
        while not answers(url):
            assert process.poll() is None, "moto's server has ended"
            assert time.monotonic() < deadline, "moto's server does not answer"
            time.sleep(0.05)
        yield url
    finally:
        process.kill()
        process.wait()


def environment(url):
    """What a process needs to reach it."""
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "not-to-be-written",
        "NO_PROXY": "127.0.0.1",
    }


@pytest.fixture
def bucket(object_server, monkeypatch):
    """`s3://…` of a new bucket, for this process and its children."""
    for name, value in environment(object_server).items():
        monkeypatch.setenv(name, value)
    name = f"b{uuid4().hex}"
    request = urllib.request.Request(f"{object_server}/{name}", method="PUT")
    with urllib.request.urlopen(request, timeout=20):
        return f"s3://{name}/cycle"
