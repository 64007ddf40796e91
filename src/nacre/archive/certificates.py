"""The certificate chains of TLS servers as WARC records: pure.

A chain is written once to each WARC that has captures from its server, as a `resource` record in
front of the first of them. Its URI ends with the SHA-256 of its block, so that it proves itself;
the metadata records of captures refer to it by this URI, and the index finds it. Sources: RFC 8555,
9.1, for the media type; WARC 1.1, clause 6.4, for the record. No standard defines the name; it
follows the `urn:` names of Browsertrix's resource records (`urn:text:`, `urn:pageinfo:`).
"""

from base64 import b64decode, b64encode
from binascii import Error
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

CHAIN_MEDIA = "application/pem-certificate-chain"
CHAIN_URN = "urn:tls-certificates:sha-256:"
CHAIN_FIELD = "tlsCertificates"
"""Line of a metadata record that has the URI of the chain."""

_BEGIN, _END = b"-----BEGIN CERTIFICATE-----", b"-----END CERTIFICATE-----"
_LINE = 64


class StoredChain(NamedTuple):
    """A certificate chain as it is stored.

    Attributes:
        uri: WARC-Target-URI of its record.
        block: The certificates as PEM, in the order in which the server sent them.
    """

    uri: str
    block: bytes


@lru_cache(maxsize=64)  # a chain has up to 100 kB, OpenSSL's limit
def store_chain(chain: tuple[bytes, ...]) -> StoredChain:
    """Return the stored form of a chain.

    Args:
        chain: Certificates as DER, the server's own first.
    """
    block = b"".join(map(_pem, chain))
    return StoredChain(chain_uri(block), block)


def chain_uri(block: bytes) -> str:
    """Return the URI of a chain from the block of its record."""
    return CHAIN_URN + sha256(block).hexdigest()


def read_chain(block: bytes) -> tuple[bytes, ...]:
    """Return the certificates of a block as DER; other blocks are left out."""
    parts = (part.partition(_END)[0] for part in block.split(_BEGIN)[1:])
    certificates = []
    for part in parts:
        try:
            certificates.append(b64decode(b"".join(part.split()), validate=True))
        except Error:
            continue
    return tuple(certificates)


def _pem(der: bytes) -> bytes:
    """Return a certificate in the textual encoding of RFC 7468."""
    text = b64encode(der)
    lines = [text[at : at + _LINE] for at in range(0, len(text), _LINE)]
    return b"\n".join([_BEGIN, *lines, _END, b""])
