"""Names of cipher suites: OpenSSL's to IANA's, which WARC-Cipher-Suite wants."""

from functools import lru_cache

_KEY_EXCHANGES = ("ECDHE", "DHE", "ECDH", "DH", "EDH", "ADH", "AECDH", "PSK", "RSA", "SRP", "KRB5",
                  "ECDSA", "DSS", "ANON", "EXP")  # fmt: skip
_SPELLINGS = {
    "EDH": "DHE", "ADH": "DH_anon", "AECDH": "ECDH_anon", "CHACHA20": "CHACHA20_POLY1305",
    "CCM8": "CCM_8",
}  # fmt: skip
_SIZED = ("AES", "CAMELLIA", "ARIA")
_HASHES = ("SHA", "SHA256", "SHA384", "MD5")


@lru_cache(maxsize=256)
def iana_name(name: str) -> str:
    """IANA's name of a suite that OpenSSL names.

    `ECDHE-RSA-AES128-GCM-SHA256` is `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`; names of TLS 1.3
    are IANA's already.
    """
    if not name or name.startswith("TLS_"):
        return name
    parts = [part for part in name.split("-") if part != "POLY1305"]
    count = 0
    while count < len(parts) and parts[count] in _KEY_EXCHANGES:
        count += 1
    exchange = [_SPELLINGS.get(part, part) for part in parts[:count]] or ["RSA"]
    return f"TLS_{'_'.join(exchange)}_WITH_{_cipher(parts[count:])}"


def _cipher(parts: list[str]) -> str:
    if parts[:2] == ["DES", "CBC3"]:
        parts = ["3DES_EDE_CBC", *parts[2:]]
    elif parts[0].startswith(_SIZED):
        parts = [_with_size(parts[0]), *parts[1:]]
        if len(parts) == 2 and parts[1] in _HASHES:
            parts.insert(1, "CBC")
    elif parts[0] == "CHACHA20" and len(parts) == 1:
        parts = ["CHACHA20", "SHA256"]
    return "_".join(_SPELLINGS.get(part, part) for part in parts)


def _with_size(part: str) -> str:
    letters = part.rstrip("0123456789")
    size = part[len(letters) :]
    return f"{letters}_{size}" if size else letters
