"""The settings of the fetcher: section `fetch` of `crawl.yaml`, and the credentials in it."""

from functools import lru_cache
from typing import Annotated, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import field_validator

from nacre import __version__
from nacre.config.component import Bytes, Component, NamedKind, NetworkName, Seconds, setting
from nacre.config.secret import Secret
from nacre.fetch.proxy import Proxy, parse_proxy
from nacre.messages import message
from nacre.scope.rules.stock import AnyRule
from nacre.wire.head import header_lines
from nacre.wire.http1 import MAX_HEADER


class Credential(Component):
    """A name and a password. They are sent to their origin only, after its challenge."""

    sent_to: ClassVar[tuple[str, ...] | None] = ("origin",)
    origin: str = setting(..., "Where they belong: `https://a.example` or `http://b.example:81`.")
    realm: str = setting("", "Realm that the server must name. Empty: any.")
    username: str = setting(..., "User name.")
    password: Secret = setting(
        ...,
        "Password, or `{env: NAME}` or `{file: PATH}` where it is. What is sent of it is left out "
        "of the request records of the archive.",
    )

    @field_validator("origin")
    @classmethod
    def _check_origin(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise ValueError(
                message(
                    "fetch.not-origin", "not an origin; write https://HOST or https://HOST:PORT"
                )
            )
        return value

    @field_validator("username")
    @classmethod
    def _check_username(cls, value: str) -> str:
        if ":" in value:
            raise ValueError(
                message(
                    "fetch.user-name-cannot-hold-colon",
                    "a user name cannot hold a colon (RFC 7617)",
                )
            )
        return value

    def belongs_to(self, scheme: str, host: str, port: int) -> bool:
        """Return True for its origin."""
        parts = urlsplit(self.origin)
        own = parts.port or (443 if parts.scheme == "https" else 80)
        return (parts.scheme, parts.hostname, own) == (scheme, host, port)


TlsPolicy = Literal["record", "strict"]


class FetchSettings(Component):
    """Settings of how a URL is fetched over HTTP."""

    sent_to: ClassVar[tuple[str, ...] | None] = ()

    timeout: Seconds = setting(
        1200.0,
        "Limit of a whole fetch; the part received by then is stored (`timeTrunc`).",
        unit="s",
        gt=0,
    )
    connect_timeout: Seconds = setting(20.0, "Limit of connecting.", unit="s", gt=0)
    handshake_timeout: Seconds = setting(20.0, "Limit of a TLS handshake.", unit="s", gt=0)
    silence_timeout: Seconds = setting(
        20.0, "Longest wait for the next byte of a reply.", unit="s", gt=0
    )
    max_length: Bytes = setting(
        0, "Longest body; a longer one is cut (`lenTrunc`). 0: no limit.", unit="bytes"
    )
    max_header: Bytes = setting(
        MAX_HEADER,
        "Longest head of a reply, interim replies included; a longer one is cut (`headerTrunc`).",
        unit="bytes",
        ge=1024,
    )
    max_rate: int = setting(0, "Highest rate of one fetch. 0: no limit.", unit="KB/s", ge=0)
    contact: str = setting(
        "", "URL or mail address where the owners of sites can complain; part of the User-Agent."
    )
    user_agent: str = setting(
        "Mozilla/5.0 (compatible; nacre/{version} +{contact})",
        "User-Agent; `{version}` and `{contact}` are filled in, and ` +{contact}` goes "
        "when there is no contact.",
    )
    mail_from: str = setting("", "From header: mail address of the operator. Empty: not sent.")
    accept: tuple[str, ...] = setting(
        ("Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",),
        "Accept headers, `Name: value` each.",
    )
    accept_encoding: str = setting(
        "gzip, br, zstd",
        "Accept-Encoding; bodies are stored as they are sent. Empty: not sent.",
    )
    skip_types: tuple[str, ...] = setting(
        (),
        "Media types whose bodies are abandoned after their head (`midFetchAbort`): `video/mp4`, "
        "or `video/` for all of a kind. robots.txt is always fetched whole.",
    )
    midfetch: tuple[AnyRule, ...] = setting(
        (),
        "DecideRules asked between the headers and the body: a final REJECT abandons the body "
        "(`midFetchAbort`). robots.txt is always fetched whole.",
    )
    send_referer: bool = setting(
        True, "Send the page that a link was found on as Referer, but never from https to http."
    )
    send_range: bool = setting(
        False, "With a `max_length`, request only that much (Range), so that less is discarded."
    )
    tls: TlsPolicy = setting(
        "record",
        "`record`: accept any certificate and protocol from TLS 1.0 on, and record the result "
        "of the verification; `strict`: refuse connections that fail it.",
    )
    proxy: Annotated[Secret, NamedKind.SERVER] = setting(
        Secret(),
        "Proxy: `http://`, `https://` or `socks5://`, with `user:password@` if needed; "
        "preferably with the password as `{env: NAME}` or `{file: PATH}`. Empty: none.",
        sample="http://proxy.example:3128",
    )
    credentials: tuple[Credential, ...] = setting(
        (), "Names and passwords for Basic and Digest authentication, each for one origin."
    )
    bind_address: NetworkName = setting(
        "", "Local address to connect from. Empty: the system's choice."
    )

    @field_validator("proxy")
    @classmethod
    def _check_proxy(cls, value: Secret) -> Secret:
        if value:
            parse_proxy(value.text)
        return value

    @field_validator("accept")
    @classmethod
    def _check_accept(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        header_lines(_field(line) for line in value)
        return value

    @field_validator("user_agent", "contact", "mail_from", "accept_encoding")
    @classmethod
    def _check_value(cls, value: str) -> str:
        header_lines([("X", value)])
        return value

    @property
    def proxy_server(self) -> Proxy | None:
        """The proxy, parsed; None for none."""
        return parse_proxy(self.proxy.text) if self.proxy else None

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """Header fields that each request carries, but for Host and Connection."""
        return _fields(*self._sources)

    @property
    def lines(self) -> bytes:
        """The same as bytes."""
        return _lines(*self._sources)

    @property
    def _sources(self) -> tuple[str, str, tuple[str, ...], str, str]:
        return self.user_agent, self.contact, self.accept, self.accept_encoding, self.mail_from


@lru_cache(maxsize=256)
def _fields(
    user_agent: str, contact: str, accept: tuple[str, ...], accept_encoding: str, mail_from: str
) -> tuple[tuple[str, str], ...]:
    fields = [("User-Agent", fill_user_agent(user_agent, contact))]
    fields += [_field(line) for line in accept]
    if accept_encoding:
        fields.append(("Accept-Encoding", accept_encoding))
    if mail_from:
        fields.append(("From", mail_from))
    return tuple(fields)


@lru_cache(maxsize=256)
def _lines(
    user_agent: str, contact: str, accept: tuple[str, ...], accept_encoding: str, mail_from: str
) -> bytes:
    return header_lines(_fields(user_agent, contact, accept, accept_encoding, mail_from))


def fill_user_agent(template: str, contact: str) -> str:
    """Return the User-Agent that a template gives."""
    if not contact:
        template = template.replace(" +{contact}", "").replace("{contact}", "")
    return template.replace("{version}", __version__).replace("{contact}", contact)


def _field(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise ValueError(
            message(
                "fetch.not-header-line",
                "not a header line, which is `Name: value`: {line!r}",
                line=line,
            )
        )
    return name.strip(), value.strip()
