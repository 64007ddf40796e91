"""Names and passwords for HTTP authentication, each for one origin."""

from urllib.parse import urlsplit

from pydantic import field_validator

from nacre.config.component import Component, setting
from nacre.config.secret import Secret


class Credential(Component):
    """A name and a password. They are sent to their origin only, and only when it asks."""

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
            raise ValueError("not an origin; write https://HOST or https://HOST:PORT")
        return value

    @field_validator("username")
    @classmethod
    def _check_username(cls, value: str) -> str:
        if ":" in value:
            raise ValueError("a user name cannot hold a colon (RFC 7617)")
        return value

    def belongs_to(self, scheme: str, host: str, port: int) -> bool:
        """True for its origin."""
        parts = urlsplit(self.origin)
        own = parts.port or (443 if parts.scheme == "https" else 80)
        return (parts.scheme, parts.hostname, own) == (scheme, host, port)
