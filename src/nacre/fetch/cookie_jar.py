"""The cookie jar: RFC 6265, indexed by domain, bounded, and fast if no cookie matches."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter

from nacre.config.component import Bytes, Component, FileName, setting
from nacre.fetch.cookie import (
    Cookie,
    SetCookie,
    decode_cookies,
    default_path,
    domain_matches,
    encode_cookies,
    format_netscape,
    parse_netscape,
    parse_set_cookie,
    path_matches,
)
from nacre.uri.domain import is_public_suffix
from nacre.uri.parse import host, is_ip, request_target

_MAX_FIELDS = 500


class CookieSettings(Component):
    """Cookies of replies, accepted and sent back as a browser would; no script sets any."""

    enabled: bool = setting(True, "Accept and send cookies.")
    load_file: FileName = setting(
        "",
        "Cookies to begin with, in a 7-column Netscape file. Empty: none.",
        live=False,
        sheets=False,
    )
    save_file: FileName = setting(
        "", "Where to write all cookies when the job ends. Empty: nowhere.", sheets=False
    )
    per_domain: int = setting(
        50,
        "Cookies kept for one domain; the least recently used are removed first.",
        unit="cookies",
        live=False,
        sheets=False,
        ge=1,
    )
    total: int = setting(
        10_000, "Cookies kept in all.", unit="cookies", live=False, sheets=False, ge=1
    )
    max_size: Bytes = setting(
        4096, "Longest name and value; longer cookies are ignored.", unit="bytes", sheets=False
    )
    max_header: Bytes = setting(
        16384,
        "Longest Cookie header; cookies that do not fit are omitted, shortest paths first.",
        unit="bytes",
        sheets=False,
    )


class CookieJar:
    """All cookies of a job.

    Domains and the cookies of each are kept in order of use, so that eviction does not depend on
    how many there are.
    """

    def __init__(self, settings: CookieSettings | None = None) -> None:
        self.settings = settings or CookieSettings()
        self._domains: dict[str, dict[tuple[str, str], Cookie]] = {}
        self._count = 0
        self._created = 0

    def configure(self, settings: CookieSettings) -> None:
        """Replace the limits, from the next cookie on."""
        self.settings = settings

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Cookie]:
        for bucket in self._domains.values():
            yield from bucket.values()

    def header(self, url: str, now: float) -> str:
        """Return the value of the Cookie header for a URL; "" when there is none to send.

        Args:
            url: Normalised http or https URL.
            now: Seconds since the epoch, UTC.

        Returns:
            UTF-8 text with `surrogateescape`, sorted by RFC 6265 5.4; no CR or LF in it.
        """
        if not self._domains:
            return ""
        cookies = self._matching(url, now)
        if not cookies:
            return ""
        cookies.sort(key=attrgetter("created"))
        cookies.sort(key=lambda cookie: len(cookie.path), reverse=True)
        return self._join(cookies, now)

    def store(self, url: str, set_cookie_values: Sequence[bytes], now: float) -> list[Cookie]:
        """Store the cookies of a reply.

        Args:
            url: Normalised URL that was requested.
            set_cookie_values: Values of its Set-Cookie headers; the first 500 count.
            now: Seconds since the epoch, UTC.

        Returns:
            The cookies set, changed, removed or evicted: the rows of their domains changed (see
            `row`). Empty if nothing changed.
        """
        changed: list[Cookie] = []
        for field in set_cookie_values[:_MAX_FIELDS]:
            parsed = parse_set_cookie(field, now, self.settings.max_size)
            cookie = _admit(parsed, url, now) if parsed else None
            if cookie and not self._is_protected(cookie, url):
                changed += self._put(cookie, now)
        return changed

    def row(self, domain: str) -> bytes:
        """Return the row of a domain for the store; b"" when the row is to be deleted."""
        bucket = self._domains.get(domain)
        return encode_cookies(bucket.values()) if bucket else b""

    def load_row(self, row: bytes, now: float) -> None:
        """Take back a row that `row` made; expired cookies are dropped."""
        for cookie in decode_cookies(row):
            self._put(cookie, now)

    def load(self, text: str, now: float) -> list[str]:
        """Add the cookies of a Netscape file; return the problems, one per invalid line."""
        cookies, problems = parse_netscape(text)
        for cookie in cookies:
            self._put(cookie, now)
        return problems

    def of_site(self, site: str, now: float) -> list[Cookie]:
        """Return the cookies of a domain and of all domains below it.

        Args:
            site: A registered domain, or a host that has none.
            now: Seconds since the epoch, UTC.
        """
        end = f".{site}"
        buckets = [
            bucket
            for domain, bucket in self._domains.items()
            if domain == site or domain.endswith(end)
        ]
        return [cookie for bucket in buckets for cookie in bucket.values() if cookie.expires > now]

    def adopt(self, cookies: Iterable[Cookie], now: float) -> list[Cookie]:
        """Take cookies from a browser, whose scripts may have set them; return those that changed.

        Those with a name that no Set-Cookie could have, or of a public suffix, are left out.
        """
        changed: list[Cookie] = []
        for cookie in islice(cookies, _MAX_FIELDS):
            old = self._domains.get(cookie.domain, {}).get((cookie.name, cookie.path))
            same = old is not None and (old.value, old.expires) == (cookie.value, cookie.expires)
            if not same and self._is_acceptable(cookie):
                changed += self._put(cookie, now)
        return changed

    def _is_acceptable(self, cookie: Cookie) -> bool:
        text = f"{cookie.name}{cookie.value}{cookie.path}"
        size = len(cookie.name.encode("utf-8", "surrogateescape"))
        size += len(cookie.value.encode("utf-8", "surrogateescape"))
        if not cookie.name or not cookie.domain or size > self.settings.max_size:
            return False
        if any((ord(c) < 32 and c != "\t") or ord(c) == 127 for c in text) or ";" in text:
            return False
        return cookie.host_only or not is_public_suffix(cookie.domain)

    def save(self) -> str:
        """Return all cookies as a Netscape file; encode it as UTF-8 with `surrogateescape`."""
        return format_netscape(self)

    def _matching(self, url: str, now: float) -> list[Cookie]:
        """Return the cookies to send to a URL, unsorted."""
        name = host(url)
        path = secure = None
        matches: list[Cookie] = []
        domain = name
        while domain:
            bucket = self._domains.get(domain)
            if bucket:
                if path is None:
                    path = _path(url)
                    secure = url.startswith("https:")
                matches += [
                    cookie
                    for cookie in bucket.values()
                    if cookie.expires > now
                    and (secure or not cookie.secure)
                    and (not cookie.host_only or domain == name)
                    and path_matches(path, cookie.path)
                ]
            domain = domain.partition(".")[2]
        return matches

    def _join(self, cookies: list[Cookie], now: float) -> str:
        """Return the header's value, within its limit; mark the sent cookies as used."""
        pairs: list[str] = []
        room = self.settings.max_header
        for cookie in cookies:
            pair = f"{cookie.name}={cookie.value}"
            room -= len(pair.encode("utf-8", "surrogateescape")) + 2
            if room < 0:
                break
            pairs.append(pair)
            self._use(cookie, now)
        return "; ".join(pairs)

    def _use(self, cookie: Cookie, now: float) -> None:
        cookie.note_use(now)
        bucket = self._domains[cookie.domain] = self._domains.pop(cookie.domain)
        key = cookie.name, cookie.path
        bucket[key] = bucket.pop(key)

    def _is_protected(self, cookie: Cookie, url: str) -> bool:
        """A cookie that was set over https for https is not changed over http (as browsers do)."""
        old = self._domains.get(cookie.domain, {}).get((cookie.name, cookie.path))
        return old is not None and old.secure and not url.startswith("https:")

    def _put(self, cookie: Cookie, now: float) -> list[Cookie]:
        """Set, replace or remove a cookie; all that changed."""
        key = cookie.name, cookie.path
        old = self._domains.get(cookie.domain, {}).get(key)
        if cookie.expires <= now:
            return [self._remove(old)] if old else []
        if old:
            self._remove(old)
        cookie.enter_jar(old, self._created, now)
        self._created = max(self._created, cookie.created)
        bucket = self._domains.pop(cookie.domain, {})
        self._domains[cookie.domain] = bucket
        bucket[key] = cookie
        self._count += 1
        return [cookie, *self._evict(bucket, now)]

    def _evict(self, bucket: dict[tuple[str, str], Cookie], now: float) -> list[Cookie]:
        """Evict expired cookies of this domain, then the least recently used."""
        gone: list[Cookie] = []
        if len(bucket) > self.settings.per_domain:
            gone = [cookie for cookie in bucket.values() if cookie.expires <= now]
            gone = gone or [next(iter(bucket.values()))]
        elif self._count > self.settings.total:
            oldest = next(iter(self._domains.values()))
            gone = [next(iter(oldest.values()))]
        return [self._remove(cookie) for cookie in gone]

    def _remove(self, cookie: Cookie) -> Cookie:
        bucket = self._domains[cookie.domain]
        del bucket[cookie.name, cookie.path]
        if not bucket:
            del self._domains[cookie.domain]
        self._count -= 1
        return cookie


def _path(url: str) -> str:
    return request_target(url).partition("?")[0]


def _admit(parsed: SetCookie, url: str, now: float) -> Cookie | None:
    """The cookie of a Set-Cookie header of a host; None when it may not set it (RFC 6265 5.3)."""
    name = host(url)
    secure = url.startswith("https:")
    if (parsed.secure and not secure) or not _keeps_prefix(parsed):
        return None
    domain = parsed.domain
    if domain and domain != name and (is_ip(name) or not domain_matches(name, domain)):
        return None
    if domain and is_public_suffix(domain):
        if domain != name:
            return None
        domain = ""
    return Cookie(
        parsed.name,
        parsed.value,
        domain or name,
        parsed.path or default_path(_path(url)),
        host_only=not domain,
        secure=parsed.secure,
        http_only=parsed.http_only,
        expires=parsed.expires,
        accessed=now,
    )


def _keeps_prefix(parsed: SetCookie) -> bool:
    """Return whether a cookie fulfils the promise of its name (`__Secure-`, `__Host-`)."""
    name = parsed.name.lower()
    if name.startswith("__host-"):
        return parsed.secure and not parsed.domain and parsed.path == "/"
    return parsed.secure or not name.startswith("__secure-")
