"""The site that publishes an identity: its files, made of facts (pure).

Below `site/` are the files for the web server, and below `server/` pieces of its configuration.
"""

import json
import re
from collections.abc import Sequence
from html import escape
from ipaddress import ip_network
from pathlib import Path, PurePosixPath
from string import Template
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from nacre.core.clock import iso
from nacre.errors import ConfigError
from nacre.fetch.identity_keys import SigningKey
from nacre.messages import message
from nacre.wire.key_directory import (
    DIRECTORY_PATH,
    DIRECTORY_TYPE,
    format_directory,
    sign_directory,
)

DIRECTORY_FILE: Final = f"site{DIRECTORY_PATH}"
SECURITY_PATH: Final = "/.well-known/security.txt"
PAGE_PATH: Final = "/crawler/"
ADDRESSES_PATH: Final = "/crawler/addresses.json"
CACHE_TIME: Final = 86_400
"""Seconds for which servers may keep the directory."""
_OBEYS: Final = re.compile(r"<!-- obeys -->.*<!-- end -->\n", re.DOTALL)
_IGNORES: Final = re.compile(r"<!-- ignores -->.*<!-- obeys -->\n", re.DOTALL)
_PAGES: Final = Path(__file__).parent / "crawler_pages"


class SiteFacts(NamedTuple):
    """The content of the site.

    Attributes:
        directory: URL of the key directory.
        name: Name of the crawler in robots.txt.
        user_agent: Its User-Agent.
        obeys_robots: It obeys robots.txt.
        contact: Mail address or URL.
        purpose: What the copies are for; "" if unknown.
        addresses: Its addresses and networks.
        keys: The keys.
        now: Seconds since the epoch.
        until: End of the validity, seconds since the epoch.
    """

    directory: str
    name: str
    user_agent: str
    obeys_robots: bool
    contact: str
    purpose: str
    addresses: Sequence[str]
    keys: Sequence[SigningKey]
    now: int
    until: int

    @property
    def origin(self) -> str:
        """The origin of the directory, where all files are."""
        return f"https://{urlsplit(self.directory).netloc}"


def site_files(facts: SiteFacts) -> dict[str, bytes]:
    """Return the files by their path.

    Raises:
        ConfigError: An address is none, or the directory has the path of another file.
    """
    path = urlsplit(facts.directory).path
    _require_own_path(path)
    body = format_directory([key.public for key in facts.keys])
    signers = [(key.keyid, key.private.sign) for key in facts.keys]
    proofs = sign_directory(facts.directory, body, signers, (facts.now, facts.until))
    fields = [
        ("Content-Type", DIRECTORY_TYPE),
        ("Cache-Control", f"max-age={CACHE_TIME}"),
        ("Access-Control-Allow-Origin", "*"),
        *proofs,
    ]
    files = {
        f"site{path}": body,
        f"site{SECURITY_PATH}": format_contact(facts).encode(),
        f"site{ADDRESSES_PATH}": format_addresses(facts).encode(),
        f"site{PAGE_PATH}index.html": format_page(facts, "en").encode(),
        f"site{PAGE_PATH}zh.html": format_page(facts, "zh").encode(),
        "server/nginx.conf": _nginx(path, fields).encode(),
        "server/Caddyfile": _caddy(path, fields).encode(),
        "server/apache.conf": _apache(path, fields).encode(),
    }
    if path != DIRECTORY_PATH:
        files[DIRECTORY_FILE] = body
    return files


def _require_own_path(path: str) -> None:
    """Raise ConfigError if the path of the directory is that of another file, or of its folder."""
    own = PurePosixPath("/", path.lstrip("/"))
    pages = f"{PAGE_PATH}index.html", f"{PAGE_PATH}zh.html"
    others = map(PurePosixPath, (SECURITY_PATH, ADDRESSES_PATH, *pages))
    if any(own.is_relative_to(other) or other.is_relative_to(own) for other in others):
        raise ConfigError(
            message(
                "identity.path-in-use",
                "the page of the crawler has the path {path}. Choose another path for the keys, or "
                "name the origin alone",
                path=path,
            )
        )


def format_contact(facts: SiteFacts) -> str:
    """Return the contact as `security.txt` (RFC 9116)."""
    return (
        f"Contact: {_contact_url(facts.contact)}\nExpires: {iso(facts.until)}\n"
        f"Canonical: {facts.origin}{SECURITY_PATH}\nPolicy: {facts.origin}{PAGE_PATH}\n"
        "Preferred-Languages: en, zh\n"
    )


def _contact_url(contact: str) -> str:
    is_url = contact.startswith(("https://", "http://", "mailto:"))
    return contact if is_url else f"mailto:{contact}"


def format_addresses(facts: SiteFacts) -> str:
    """Return the addresses as JSON; the draft is `message_signatures.DRAFTS["addresses"]`."""
    prefixes = [_prefix(text) for text in facts.addresses]
    content = {"creationTime": iso(facts.now), "prefixes": prefixes}
    return json.dumps(content, indent=1) + "\n"


def _prefix(text: str) -> dict[str, str]:
    try:
        network = ip_network(text.strip())
    except ValueError:
        raise ConfigError(
            message(
                "identity.not-network",
                "{text!r} is no address and no network. Write 192.0.2.7 or 192.0.2.0/28",
                text=text,
            )
        ) from None
    return {f"ipv{network.version}Prefix": str(network)}


def format_page(facts: SiteFacts, language: str) -> str:
    """Return the page about the crawler, in HTML."""
    text = (_PAGES / f"{language}.html").read_text("utf-8")
    text = (_IGNORES if facts.obeys_robots else _OBEYS).sub("", text)
    template = Template(text)
    empty = {"en": "The operator has not described it.", "zh": "运营者未作说明。"}[language]
    return template.substitute(
        name=escape(facts.name.partition(",")[0]),
        user_agent=escape(facts.user_agent),
        contact=escape(facts.contact),
        contact_url=escape(_contact_url(facts.contact)),
        purpose=escape(facts.purpose) or empty,
        directory=escape(facts.directory),
        addresses=escape(f"{facts.origin}{ADDRESSES_PATH}"),
        keyids="".join(f"<li><code>{key.keyid}</code></li>" for key in facts.keys),
        date=iso(facts.now)[:10],
    )


_NOTE: Final = "# Valid until the signatures below end; `nacre identity publish` writes it again.\n"


# Compressed replies would not fit Content-Digest, so that each piece switches compression off.


def _nginx(path: str, fields: Sequence[tuple[str, str]]) -> str:
    lines = [f"    add_header {name} '{value}';" for name, value in fields[1:]]
    kind = f"    types {{ }}\n    default_type {fields[0][1]};\n    gzip off;"
    return "\n".join([f"{_NOTE}location = {path} {{", kind, *lines, "}", ""])


def _caddy(path: str, fields: Sequence[tuple[str, str]]) -> str:
    lines = [f"    {name} `{value}`" for name, value in fields]
    plain = f"request_header {path} -Accept-Encoding"
    return "\n".join([f"{_NOTE}{plain}\nheader {path} {{", *lines, "}", ""])


def _apache(path: str, fields: Sequence[tuple[str, str]]) -> str:
    quoted = [(name, value.replace('"', '\\"')) for name, value in fields[1:]]
    lines = [f'    Header always set {name} "{value}"' for name, value in quoted]
    kind = [f"    ForceType {fields[0][1]}", "    RequestHeader unset Accept-Encoding"]
    return "\n".join([f'{_NOTE}<Location "{path}">', *kind, *lines, "</Location>", ""])
