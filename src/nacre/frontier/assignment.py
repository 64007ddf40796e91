"""Assigns URIs to queues. Source: Heritrix 3, queue assignment policies."""

from collections.abc import Sequence
from hashlib import blake2b

from nacre.frontier.settings import QueueAssignment
from nacre.uri.domain import registered_domain
from nacre.uri.parse import authority, host, is_ip
from nacre.uri.surt import DEFAULT_QUEUE, surt_authority

NO_HOST = "NO-HOST"
"""Bucket of URIs without a host."""

_NO_ADDRESS = 1024
_WHOIS = "whois..."


def core_key(choice: QueueAssignment, url: str, addresses: Sequence[str] = ()) -> str:
    """Return the queue key of a URL, before splitting; equal for all URLs of an authority.

    Args:
        choice: The policy.
        url: The URL.
        addresses: Addresses of its host, in order; empty while they are unknown, or not needed for
            (`needs_address`).
    """
    if url.startswith("whois:"):
        return _WHOIS
    if choice.force:
        return choice.force
    if needs_address(choice):
        return _by_address(choice, url, addresses)
    if choice.policy == "hostname":
        return _hostname(url, choice.labels)
    if choice.policy == "assignment-level-surt":
        return _domain_surt(url)
    return _cut_surt(surt_authority(url), choice.labels)


def split_key(choice: QueueAssignment, key: str, url: str) -> str:
    """Queue key of a URL: one of `parallel_queues` of its core key; the first keeps the name."""
    if choice.parallel_queues == 1 or key in (DEFAULT_QUEUE, _WHOIS):
        return key
    basis = url if choice.parallel_by == "url" else _first_directory(url)
    number = jump_hash(basis, choice.parallel_queues) if basis else 0
    return f"{key}+{number}" if number else key


def needs_address(choice: QueueAssignment) -> bool:
    """The key depends on the address of the host."""
    return choice.policy in ("ip", "bucket") and not choice.force


def moves(choice: QueueAssignment) -> bool:
    """The key of a URI that is queued may turn out to be another one."""
    return needs_address(choice) or not choice.defer_to_previous


def jump_hash(text: str, buckets: int) -> int:
    """Bucket of a text, 0 to `buckets` - 1; with one bucket more, only 1/n of the texts move.

    Source: Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm".
    """
    key = int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    bucket, place = -1, 0
    while place < buckets:
        bucket = place
        key = (key * 2862933555777941757 + 1) & 0xFFFFFFFFFFFFFFFF
        place = int((bucket + 1) * (float(1 << 31) / float((key >> 33) + 1)))
    return bucket


def _cut_surt(key: str, labels: int) -> str:
    if not labels or key == DEFAULT_QUEUE:
        return key
    name, mark, port = key.partition("#")
    parts = name.split(",")
    if len(parts) - 1 <= labels:  # an address has no comma at all
        return key
    return ",".join([*parts[:labels], ""]) + mark + port


def _domain_surt(url: str) -> str:
    name = host(url)
    if not name:
        return DEFAULT_QUEUE
    if is_ip(name):
        return surt_authority(url)
    return ",".join([*reversed(registered_domain(name).split(".")), ""])


def _hostname(url: str, labels: int) -> str:
    name = host(url)
    if not name:
        return DEFAULT_QUEUE
    port = authority(url)[len(name) :].lstrip(":") or ("443" if url.startswith("https:") else "")
    if labels and not is_ip(name):
        name = ".".join(name.split(".")[-labels:])
    return f"{name}#{port}" if port else name


def _by_address(choice: QueueAssignment, url: str, addresses: Sequence[str]) -> str:
    if choice.policy == "ip":
        return addresses[0] if addresses else _hostname(url, 0)
    name = host(url)
    if not name:
        return NO_HOST
    if addresses:
        return str(jump_hash(addresses[0], choice.buckets))
    return f"NO-IP-{jump_hash(name, _NO_ADDRESS)}"


def _first_directory(url: str) -> str:
    """Return the first segment of the path if another follows: URLs below it stay together."""
    start = url.find("/", url.find("://") + 3)
    if start < 0 or "?" in url[:start]:
        return ""
    path = url[start + 1 :].partition("?")[0]
    first, slash, _ = path.partition("/")
    return first if slash else ""
