"""Tickets, sessions and keys of replay.

The loopback is open to every user of a machine, so replay requires proof. The console's link has a
ticket in its fragment, which browsers do not send; the page that it opens trades it for a cookie,
which archived scripts cannot read. Tickets and cookies are signed, and name a user and jobs. The
key of the signatures lives as long as the process.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from nacre.fleet.requester import NOBODY, Requester

COOKIE: Final = "__Host-replay"
"""Name of the cookie. Browsers accept such a name only with `Secure` and `Path=/`, and never from
another host; on the loopback they accept it over HTTP as well."""
TICKET, LINK, SESSION, PATH = "ticket", "link", "session", "path"
"""Kinds of grants: in links of pages, in printed links, in cookies, in paths without cookies."""
TICKET_LIFE: Final = 60.0
"""Lifetime of a ticket, seconds."""
LINK_LIFE: Final = 300.0
"""Lifetime of a printed link, seconds."""
SESSION_LIFE: Final = 8 * 3600.0
"""Lifetime of a cookie, seconds."""
MOST_LABELS: Final = 40
"""Jobs of a session of the viewer; those that were opened last stay."""
_LONGEST: Final = 4096
_MAC: Final = 32


class ReplayGrant(msgspec.Struct, frozen=True, array_like=True):
    """The permission in a ticket or a cookie.

    Attributes:
        kind: `TICKET`, `LINK`, `SESSION` or `PATH`.
        subject: The user or session; see `ReplayAudience`.
        labels: Labels of the jobs.
        expires: When it expires, seconds since the epoch.
        nonce: Random text; a ticket of the same nonce is accepted once.
    """

    kind: str
    subject: str
    labels: tuple[str, ...]
    expires: float
    nonce: str = ""

    def permits(self, label: str) -> bool:
        """Whether it is for a job.

        Args:
            label: Label of the job.
        """
        return label in self.labels


class GrantSigner:
    """Signs grants, and reads them again.

    Args:
        key: The key of the signatures, at least 32 random bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sign(self, grant: ReplayGrant) -> str:
        """Return a grant as text for URLs and cookies."""
        data = msgspec.msgpack.encode(grant)
        return _text(self._mac(data) + data)

    def read(self, text: str, kinds: tuple[str, ...], now: float) -> ReplayGrant | None:
        """Return the grant of a text; None if it is not ours, of another kind, or expired.

        Args:
            text: The text; hostile.
            kinds: The kinds that are accepted.
            now: The time, seconds since the epoch.
        """
        if not text or len(text) > _LONGEST:
            return None
        try:
            padded = text.encode("ascii") + b"=" * (-len(text) % 4)
            raw = base64.b64decode(padded, b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        mac, data = raw[:_MAC], raw[_MAC:]
        if not hmac.compare_digest(mac, self._mac(data)):
            return None
        grant = msgspec.msgpack.decode(data, type=ReplayGrant)
        return grant if grant.kind in kinds and now < grant.expires else None

    def _mac(self, data: bytes) -> bytes:
        return hmac.new(self._key, data, hashlib.sha256).digest()


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


class ReplayAudience(NamedTuple):
    """The permitted callers: how a subject or a key becomes a caller.

    Attributes:
        of_subject: Returns the caller of a subject, which a ticket has; `NOBODY` if the user or
            the session is gone.
        subject_of_key: Returns the subject of a key that a program sends; "" if it is not valid.
    """

    of_subject: Callable[[str], Requester]
    subject_of_key: Callable[[str], str]


class ReplayAdmission(NamedTuple):
    """A caller with the jobs of the grant.

    Attributes:
        identity: The caller.
        labels: Labels of the jobs; None for a key, which is for all jobs that its caller sees.
        subject: The subject of the grant or the key.
    """

    identity: Requester = NOBODY
    labels: tuple[str, ...] | None = ()
    subject: str = ""

    def permits(self, label: str) -> bool:
        """Whether it is for a job.

        Args:
            label: Label of the job.
        """
        return self.labels is None or label in self.labels


class ReplayAccess:
    """Gives tickets, trades them for sessions, and identifies callers.

    Args:
        audience: The permitted callers.
        now: Returns the time, seconds since the epoch.
        key: The key of the signatures; b"" for a random one.
    """

    def __init__(
        self, audience: ReplayAudience, now: Callable[[], float], key: bytes = b""
    ) -> None:
        self._audience = audience
        self._now = now
        self._signer = GrantSigner(key or secrets.token_bytes(_MAC))
        self._used: dict[str, float] = {}

    def ticket(self, subject: str, label: str, *, is_printed: bool = False) -> str:
        """Return a ticket of a user for a job.

        Args:
            subject: The user; see `ReplayAudience`.
            label: Label of the job.
            is_printed: A person copies it, so it lives longer.
        """
        kind, life = (LINK, LINK_LIFE) if is_printed else (TICKET, TICKET_LIFE)
        nonce = secrets.token_urlsafe(12)
        return self._signer.sign(ReplayGrant(kind, subject, (label,), self._now() + life, nonce))

    def path_grant(self, subject: str, label: str) -> str:
        """Return a grant for the paths of a job on a site without an origin for each job."""
        grant = ReplayGrant(PATH, subject, (label,), self._now() + SESSION_LIFE)
        return self._signer.sign(grant)

    def trade(self, ticket: str, label: str, cookie: str) -> str:
        """Return the cookie for a ticket; "" if it is not valid, used, or of another job.

        Args:
            ticket: The ticket; hostile.
            label: Label of the job that the caller wants to see; hostile.
            cookie: The present cookie, whose jobs stay if it is of the same user; hostile.
        """
        now = self._now()
        grant = self._signer.read(ticket, (TICKET, LINK), now)
        if grant is None or not grant.permits(label) or not self._use(grant, now):
            return ""
        return self._session(grant.subject, label, cookie)

    def trade_key(self, key: str, label: str, cookie: str) -> str:
        """Return the cookie for a key of a program; "" if it is not valid. See `trade`."""
        subject = self._audience.subject_of_key(key.strip())
        return self._session(subject, label, cookie) if subject else ""

    def _session(self, subject: str, label: str, cookie: str) -> str:
        if not self._audience.of_subject(subject).role:
            return ""
        now = self._now()
        before = self._signer.read(cookie, (SESSION,), now)
        labels: tuple[str, ...] = (label,)
        if before is not None and before.subject == subject:
            labels = tuple(dict.fromkeys((*labels, *before.labels)))[:MOST_LABELS]
        return self._signer.sign(ReplayGrant(SESSION, subject, labels, now + SESSION_LIFE))

    def _use(self, grant: ReplayGrant, now: float) -> bool:
        """Use a ticket up; False if it was used."""
        self._used = {nonce: until for nonce, until in self._used.items() if until > now}
        if grant.nonce in self._used:
            return False
        self._used[grant.nonce] = grant.expires
        return True

    def of_cookie(self, cookie: str) -> ReplayAdmission:
        """Return the caller of a cookie; an anonymous caller if it is not valid."""
        return self._admit(cookie, SESSION)

    def of_path(self, text: str) -> ReplayAdmission:
        """Return the caller of a grant in a path; an anonymous caller if it is not valid."""
        return self._admit(text, PATH)

    def of_key(self, field: str) -> ReplayAdmission:
        """Return the caller of an Authorization header; an anonymous caller if it has no valid key.

        The key is a Bearer token, or the password of Basic: programs such as pywb send the user
        and password of a URL, `http://key:KEY@localhost:8411/`.
        """
        key = _key_of(field)
        subject = self._audience.subject_of_key(key) if key else ""
        identity = self._audience.of_subject(subject) if subject else NOBODY
        return ReplayAdmission(identity, None, subject) if identity.role else ReplayAdmission()

    def _admit(self, text: str, kind: str) -> ReplayAdmission:
        grant = self._signer.read(text, (kind,), self._now())
        if grant is None:
            return ReplayAdmission()
        identity = self._audience.of_subject(grant.subject)
        return (
            ReplayAdmission(identity, grant.labels, grant.subject)
            if identity.role
            else ReplayAdmission()
        )


def _key_of(field: str) -> str:
    """Return the key in an Authorization header; "" for none."""
    scheme, _, secret = field.partition(" ")
    if scheme.lower() == "bearer":
        return secret.strip()
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(secret.strip(), validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def cookie_field(value: str) -> str:
    """Return the Set-Cookie header of a session."""
    return (
        f"{COOKIE}={value}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age={SESSION_LIFE:.0f}"
    )
