"""Prints what http-message-signatures says of requests, a line of JSON each.

Run in an environment of its own: see `test_signature_judges.py`.
"""

import base64
import json
import sys
from types import SimpleNamespace

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import (  # type: ignore[import-not-found]
    HTTPMessageVerifier,
    HTTPSignatureKeyResolver,
    algorithms,
)


class _Key(HTTPSignatureKeyResolver):  # type: ignore[misc]
    def __init__(self, key: bytes) -> None:
        self._key = Ed25519PublicKey.from_public_bytes(key)

    def resolve_public_key(self, key_id: str) -> Ed25519PublicKey:
        return self._key


for line in sys.stdin:
    request = json.loads(line)
    message = SimpleNamespace(
        url=request["url"], method=request["method"], headers=request["headers"]
    )
    verifier = HTTPMessageVerifier(
        signature_algorithm=algorithms.ED25519,
        key_resolver=_Key(base64.b64decode(request["key"])),
    )
    try:
        verifier.verify(message)
    except Exception as error:  # noqa: BLE001 - each library has exceptions of its own
        sys.stdout.write(f"refused: {type(error).__name__} {error}\n")
    else:
        sys.stdout.write("accepted\n")
