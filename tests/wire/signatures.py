"""The test key of RFC 9421 (B.1.4), and requests that it signed."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from nacre.wire.signature_base import HttpMessage

PEM = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----
"""
_KEY = load_pem_private_key(PEM.encode(), None)
assert isinstance(_KEY, Ed25519PrivateKey)
KEY = _KEY
PUBLIC = KEY.public_key().public_bytes_raw()
KEYID = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"
NOW = 1735689700


def received(head: bytes, scheme: str = "http") -> HttpMessage:
    """The head of a request as its server sees it."""
    first, *lines = head.decode("latin-1").split("\r\n\r\n")[0].split("\r\n")
    method, target, _ = first.split(" ")
    fields = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    host = next(value for name, value in fields if name.lower() == "host")
    return HttpMessage(fields, method, scheme, host, target)
