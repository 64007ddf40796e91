"""DecideRules on the server's address and on its reply. They need both: see `subject.RulePlace`."""

from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Literal

from pydantic import field_validator, model_validator

from nacre.config.component import Bytes, FileName, setting
from nacre.messages import message
from nacre.scope.rules.regex import RegexText, pattern_list
from nacre.scope.rules.rule import Build, Predicated, Rule
from nacre.scope.scope import Decision, Opinion, Predicate, always, never
from nacre.scope.state import ScopeState
from nacre.scope.subject import Need, Subject

_KEPT = 16_384
"""Addresses whose answer is remembered."""


class _OfAddress(Predicated):
    """A rule that needs the address of the server."""

    @property
    def needs(self) -> Need:
        """See `Rule.needs`."""
        return Need.ADDRESS


class IpAddressSet(_OfAddress):
    """The address of the server is one of these, or in one of these networks."""

    heritrix = "IpAddressSetDecideRule"
    rule: Literal["ip-address-set"] = "ip-address-set"
    addresses: frozenset[str] = setting(
        frozenset(), "Addresses, or networks such as `192.0.2.0/24`; an empty list never matches."
    )

    @field_validator("addresses")
    @classmethod
    def _networks(cls, value: frozenset[str]) -> frozenset[str]:
        for text in sorted(value):
            _network(text)
        return value

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        networks = [_network(text) for text in sorted(self.addresses)]

        @lru_cache(maxsize=_KEPT)
        def holds(address: str) -> bool:
            try:
                parsed = ip_address(address.strip("[]"))
            except ValueError:
                return False
            mapped = getattr(parsed, "ipv4_mapped", None) or parsed
            return any(mapped in network for network in networks)

        return (lambda subject: holds(subject.facts.address)) if networks else never


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text.strip().strip("[]"), strict=False)
    except ValueError:
        raise ValueError(
            message(
                "scope.address-format",
                "{text!r} is neither an IP address nor a network",
                text=text,
            )
        ) from None


class GeoLocation(_OfAddress):
    """The server is in one of these countries, by a local database in MaxMind's format."""

    heritrix = "ExternalGeoLocationDecideRule"
    rule: Literal["geo-location"] = "geo-location"
    countries: frozenset[str] = setting(
        frozenset(), "Country codes of ISO 3166, such as `IS`; an empty list never matches."
    )
    database: FileName = setting(
        "", "The database, relative to the job: a file such as `GeoLite2-Country.mmdb`."
    )

    @field_validator("countries")
    @classmethod
    def _codes(cls, value: frozenset[str]) -> frozenset[str]:
        for text in sorted(value):
            if len(text) != 2 or not text.isascii() or not text.isalpha():
                raise ValueError(
                    message(
                        "scope.country-code-format",
                        "{text!r} is not a country code of two letters",
                        text=text,
                    )
                )
        return frozenset(text.upper() for text in value)

    @model_validator(mode="after")
    def _has_one(self) -> "GeoLocation":
        if self.enabled and not self.database:
            raise ValueError(
                message(
                    "scope.no-country-database-is-named",
                    "no country database is named; get one in MaxMind's format "
                    "(GeoLite2-Country and "
                    "DB-IP's country lite are free) and write `database: FILE.mmdb`",
                )
            )
        return self

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        if not self.countries:
            return never
        countries = self.countries
        country = lru_cache(maxsize=_KEPT)(state.countries(self.database))
        return lambda subject: (
            subject.facts.address != "" and country(subject.facts.address) in countries
        )


_UNLIMITED = 2**63 - 1


class _OfHeaders(Predicated):
    """A rule that needs the head of the reply."""

    @property
    def needs(self) -> Need:
        """See `Rule.needs`."""
        return Need.HEADERS


class ContentTypeMatchesRegex(_OfHeaders):
    """The expression matches the whole Content-Type as the header has it, `unknown` for none."""

    heritrix = "ContentTypeMatchesRegexDecideRule"
    rule: Literal["content-type-matches-regex"] = "content-type-matches-regex"
    regex: RegexText = setting(".", "Regular expression, such as `(?i)image/.*`.")

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        matches = pattern_list([self.regex], state).matches
        return lambda subject: matches(subject.facts.content_type)


class FetchStatusIs(_OfHeaders):
    """The status is one of these."""

    heritrix = "FetchStatusDecideRule"
    rule: Literal["fetch-status"] = "fetch-status"
    statuses: frozenset[int] = setting(
        frozenset(), "HTTP codes, or the crawler's own; an empty list never matches."
    )

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        statuses = self.statuses
        return (lambda subject: subject.facts.status in statuses) if statuses else never


class FetchStatusMatchesRegex(_OfHeaders):
    """The expression matches the whole status, written in decimal."""

    heritrix = "FetchStatusMatchesRegexDecideRule"
    rule: Literal["fetch-status-matches-regex"] = "fetch-status-matches-regex"
    regex: RegexText = setting(".", "Regular expression, such as `4..`.")

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        matches = pattern_list([self.regex], state).matches
        return lambda subject: matches(str(subject.facts.status))


class StatusBetween(_OfHeaders):
    """The status is one of a range, its ends included."""

    heritrix = "MatchesStatusCodeDecideRule"
    rule: Literal["status-between"] = "status-between"
    lower: int = setting(0, "Lowest status.")
    upper: int = setting(600, "Highest status.")

    @model_validator(mode="after")
    def _ordered(self) -> "StatusBetween":
        if self.lower > self.upper:
            raise ValueError(
                message(
                    "scope.lower-is-above-upper",
                    "`lower` is above `upper`: no status is between them",
                )
            )
        return self

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        lower, upper = self.lower, self.upper
        return lambda subject: lower <= subject.facts.status <= upper


class ContentLength(Rule):
    """ACCEPT when less than `threshold` bytes of payload came, else REJECT."""

    heritrix = "ContentLengthDecideRule"
    rule: Literal["content-length"] = "content-length"
    threshold: Bytes = setting(
        _UNLIMITED, "Payload length from which on the rule rejects.", unit="bytes"
    )

    @property
    def needs(self) -> Need:
        """See `Rule.needs`."""
        return Need.RESPONSE

    @property
    def says(self) -> Decision:
        """See `Rule.says`."""
        return Decision.NONE

    def build(self, state: ScopeState) -> Predicate:
        """Whether the payload is short enough."""
        threshold = self.threshold
        return lambda subject: (subject.facts.received or 0) < threshold

    def opinions(self, build: Build, depth: int = 0) -> list[Opinion]:
        """Return two opinions: REJECT always, and ACCEPT if the resource is short enough."""
        test = self.test(build)
        too_long = never if test is never else always
        return [
            Opinion(self.label, Decision.REJECT, too_long, depth, self.kind),
            Opinion(self.label, Decision.ACCEPT, test, depth, self.kind),
        ]


class _ResourceLength(Predicated):
    """A rule on the length of a resource, received or declared."""

    use_header_length: bool = setting(
        True, "Go by the Content-Length header; False: by the payload received."
    )
    threshold: int = setting(-1, "The length.", unit="bytes", ge=-1)

    @property
    def needs(self) -> Need:
        """See `Rule.needs`."""
        return Need.HEADERS if self.use_header_length else Need.RESPONSE

    def length(self, subject: Subject) -> int | None:
        """Return the length that counts; None when it is not known."""
        facts = subject.facts
        return facts.header_length if self.use_header_length else facts.received


class ResourceNoLongerThan(_ResourceLength):
    """The resource has at most `threshold` bytes; false if its length is unknown."""

    heritrix = "ResourceNoLongerThanDecideRule"
    rule: Literal["resource-no-longer-than"] = "resource-no-longer-than"

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        threshold, length = self.threshold, self.length

        def test(subject: Subject) -> bool:
            size = length(subject)
            return size is not None and size <= threshold

        return test


class ResourceLongerThan(_ResourceLength):
    """The resource has more than `threshold` bytes; false if its length is unknown."""

    heritrix = "ResourceLongerThanDecideRule"
    rule: Literal["resource-longer-than"] = "resource-longer-than"

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        threshold, length = self.threshold, self.length

        def test(subject: Subject) -> bool:
            size = length(subject)
            return size is not None and size > threshold

        return test


class ResponseLengthBetween(Predicated):
    """The payload received has a length of this range, its ends included."""

    heritrix = "ResponseContentLengthDecideRule"
    rule: Literal["response-length-between"] = "response-length-between"
    lower: Bytes = setting(0, "Least length.", unit="bytes")
    upper: Bytes = setting(_UNLIMITED, "Greatest length.", unit="bytes")

    @property
    def needs(self) -> Need:
        """See `Rule.needs`."""
        return Need.RESPONSE

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        lower, upper = self.lower, self.upper

        def test(subject: Subject) -> bool:
            received = subject.facts.received
            return received is not None and lower <= received <= upper

        return test


class IdenticalDigest(Predicated):
    """The payload is the same as that of an earlier capture: it will be a revisit."""

    heritrix = "IdenticalDigestDecideRule"
    rule: Literal["identical-digest"] = "identical-digest"
    decision: Decision = setting(Decision.REJECT, "The decision of the rule: ACCEPT or REJECT.")

    @property
    def needs(self) -> Need:
        """See `Rule.needs`."""
        return Need.DIGEST

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        return lambda subject: subject.facts.identical
