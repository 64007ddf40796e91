"""DecideRules on the address of the server. They need it: see `subject.Place`."""

from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Literal

from pydantic import field_validator, model_validator

from nacre.config.component import setting
from nacre.scope.decide import Predicated
from nacre.scope.rule import Need, Predicate, never
from nacre.scope.state import ScopeState

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
                known = ip_address(address.strip("[]"))
            except ValueError:
                return False
            mapped = getattr(known, "ipv4_mapped", None) or known
            return any(mapped in network for network in networks)

        return (lambda subject: holds(subject.facts.address)) if networks else never


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text.strip().strip("[]"), strict=False)
    except ValueError:
        raise ValueError(f"{text!r} is neither an IP address nor a network") from None


class GeoLocation(_OfAddress):
    """The server stands in one of these countries, by a local database in MaxMind's format."""

    heritrix = "ExternalGeoLocationDecideRule"
    rule: Literal["geo-location"] = "geo-location"
    countries: frozenset[str] = setting(
        frozenset(), "Country codes of ISO 3166, such as `IS`; an empty list never matches."
    )
    database: str = setting(
        "", "The database, relative to the job: a file such as `GeoLite2-Country.mmdb`."
    )

    @field_validator("countries")
    @classmethod
    def _codes(cls, value: frozenset[str]) -> frozenset[str]:
        for text in sorted(value):
            if len(text) != 2 or not text.isascii() or not text.isalpha():
                raise ValueError(f"{text!r} is no country code of two letters")
        return frozenset(text.upper() for text in value)

    @model_validator(mode="after")
    def _has_one(self) -> "GeoLocation":
        if self.enabled and not self.database:
            raise ValueError(
                "no country database is named; get one in MaxMind's format (GeoLite2-Country and "
                "DB-IP's country lite are free) and write `database: FILE.mmdb`"
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
