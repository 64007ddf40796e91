"""The kinds of writers that speak to search servers, with their settings.

The writers are imported when they are made, as those of `writer_kinds`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, model_validator

from nacre.config.component import Bytes, FileName, Seconds, ServerAddress, setting
from nacre.config.secret import Secret
from nacre.search.document import SearchDocument
from nacre.search.writer_kinds import WriterSettings
from nacre.search.writers import DocumentWriter

if TYPE_CHECKING:
    from nacre.search.writers.servers import RequestRetries


def _address(value: str) -> str:
    """Return an address of a server.

    Raises:
        ValueError: It is none, or it has a password.
    """
    try:
        parts = urlsplit(value)
        named = parts.hostname and (parts.port or True)
    except ValueError:
        raise ValueError(f"{value!r} is no URL with http or https") from None
    if parts.scheme not in ("http", "https") or not named:
        raise ValueError(f"{value!r} is no URL with http or https")
    if parts.username is not None or parts.password is not None:
        raise ValueError("a name or password in it: write `user` and `password`")
    return value


Address = Annotated[ServerAddress, AfterValidator(_address)]
"""The URL of a server."""


class ServerSettings(WriterSettings):
    """The settings that writers of search servers have in common."""

    user: str = setting(
        "", "User for Basic authentication (`username`). Empty: none.", sheets=False
    )
    password: Secret = setting(
        Secret(), "Its password, preferably as `{env: NAME}` or `{file: PATH}`.", sheets=False
    )
    ca: FileName = setting(
        "",
        "File of certificates, PEM, that the server's is checked by. Empty: those that the "
        "computer or the client's library trusts.",
        sheets=False,
    )
    timeout: Seconds = setting(60.0, "Limit of a request.", unit="s", gt=0, sheets=False)
    retries: int = setting(
        10,
        "How often a request is made again that a server has no room for (429, 503) "
        "(`exponential.backoff.retries`). 0: never.",
        ge=0,
        le=100,
        sheets=False,
    )
    backoff: Seconds = setting(
        0.1,
        "Wait before a request is made again, which doubles each time "
        "(`exponential.backoff.millis`).",
        unit="s",
        sheets=False,
    )

    @model_validator(mode="after")
    def _password_of_somebody(self) -> "ServerSettings":
        if self.password and not self.user:
            raise ValueError("`password` without `user`: write both")
        return self

    @property
    def login(self) -> tuple[str, str] | None:
        """User and password; None if there are none."""
        return (self.user, self.password.text) if self.user else None

    @property
    def again(self) -> "RequestRetries":
        """The times at which requests are made again."""
        from nacre.search.writers.servers import RequestRetries  # noqa: PLC0415 - see the module

        return RequestRetries(self.retries, self.backoff)


class SolrSettings(ServerSettings):
    """A core or collection of Apache Solr. Source: Nutch, `indexer-solr`."""

    writer: Literal["solr"] = "solr"
    url: Address = setting(
        "http://localhost:8983/solr/nutch",
        "URL of the core or collection (`url`).",
        sheets=False,
    )
    batch: int = setting(
        1_000, "Documents of a request (`commitSize`).", ge=1, le=100_000, sheets=False
    )
    batch_bytes: Bytes = setting(
        10_000_000,
        "Bytes of a request; a document that is longer goes alone.",
        unit="bytes",
        ge=1_000,
        sheets=False,
    )
    mapping: Literal["nutch", "webarchive-discovery"] = setting(
        "nutch",
        "Names of the fields: Nutch's, or those of the schema that SolrWayback reads.",
        sheets=False,
    )
    warc_folder: str = setting(
        "",
        "Folder of the WARC files as SolrWayback sees it, for `webarchive-discovery`; `{segment}` "
        "in it is the run of a continuous crawl. Empty: it finds them by name (its "
        "`AutoFileResolver`).",
        sheets=False,
    )

    def make(self, folder: Path) -> DocumentWriter:
        """See `WriterSettings.make`."""
        from nacre.search.writers.solr import SolrPlace, SolrWriter  # noqa: PLC0415 - likewise

        place = SolrPlace(
            self.url, self.login, self.ca, self.timeout, self.batch, self.batch_bytes, self.again
        )
        return SolrWriter(place, self.known_as, folder, self._fields)

    def _fields(self, document: SearchDocument) -> dict[str, Any]:
        from nacre.search.webarchive_discovery import discovery_fields  # noqa: PLC0415 - likewise
        from nacre.search.writers.servers import dated_fields, server_fields  # noqa: PLC0415

        if self.mapping == "webarchive-discovery":
            return server_fields(discovery_fields(document, self.warc_folder), self.mapped)
        return server_fields(dated_fields(document), self.mapped)


class OpenSearchSettings(ServerSettings):
    """An index of OpenSearch. Source: Nutch, `indexer-opensearch-1x`."""

    writer: Literal["opensearch"] = "opensearch"
    urls: tuple[Address, ...] = setting(
        ("https://localhost:9200",),
        "URLs of nodes (`scheme`, `host`, `port`).",
        min_length=1,
        sheets=False,
    )
    index: str = setting(
        "nutch",
        "The index (`index`); it is created if it does not exist.",
        pattern=r"^[^-_+A-Z\\\\/*?\"<>| ,#:][^A-Z\\\\/*?\"<>| ,#:]*$",
        max_length=255,
        sheets=False,
    )
    batch: int = setting(
        250, "Documents of a request (`max.bulk.docs`).", ge=1, le=100_000, sheets=False
    )
    batch_bytes: Bytes = setting(
        2_500_500, "Bytes of a request (`max.bulk.size`).", unit="bytes", ge=1_000, sheets=False
    )

    def make(self, folder: Path) -> DocumentWriter:
        """See `WriterSettings.make`."""
        from nacre.search.writers.opensearch import (  # noqa: PLC0415 - likewise
            OpenSearchPlace,
            OpenSearchWriter,
        )

        place = OpenSearchPlace(
            self.urls, self.index, self.login, self.ca, self.timeout, self.batch, self.batch_bytes,
            self.again,
        )  # fmt: skip
        return OpenSearchWriter(place, self.known_as, folder, self._fields, self.rename)

    def _fields(self, document: SearchDocument) -> dict[str, Any]:
        from nacre.search.writers.servers import dated_fields, server_fields  # noqa: PLC0415

        return server_fields(dated_fields(document), self.mapped)
