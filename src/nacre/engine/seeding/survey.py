"""A survey of a seed list of any length, for checks and the address guard."""

from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from nacre.fetch.guard import is_private_seed_name
from nacre.scope.seeds import BadSeed, Entry, Seed, SeedDirective
from nacre.uri.parse import host, is_ip

KEPT = 1000
"""Seeds, hosts and bad lines that are collected; others are counted."""


@dataclass
class SeedSurvey:
    """The contents of a seed list.

    Attributes:
        count: Seeds in all.
        first: The first seeds, at most `KEPT`.
        directives: All `+` and `-` lines.
        bad: The first lines that are neither, at most `KEPT`.
        bad_count: Such lines in all.
        names: The hosts whose addresses the job may crawl though they are private: the first that
            are private by their names, at most `KEPT`, and all that the operator gave addresses.
        addresses: All different hosts that are private addresses.
        public: The first different hosts that are not private by their names.
        logins: Origins of the first seeds with a name and a password in them.
    """

    count: int = 0
    first: list[Seed] = field(default_factory=list)
    directives: list[str] = field(default_factory=list)
    bad: list[BadSeed] = field(default_factory=list)
    bad_count: int = 0
    names: dict[str, None] = field(default_factory=dict)
    addresses: dict[str, None] = field(default_factory=dict)
    public: dict[str, None] = field(default_factory=dict)
    logins: dict[str, None] = field(default_factory=dict)

    def note(self, seed: Seed, mapped: Container[str]) -> None:
        """Count a seed and check its host."""
        self.count += 1
        if len(self.first) < KEPT:
            self.first.append(seed)
        if seed.login is not None and len(self.logins) < KEPT:
            self.logins[seed.login.origin] = None
        if seed.url.startswith("dns:"):
            return
        name = host(seed.url)
        if name in self.names or name in self.addresses or name in self.public:
            return
        private = is_private_seed_name(name)
        if not private and len(self.public) < KEPT:
            self.public[name] = None
        if is_ip(name):
            if private:
                self.addresses[name] = None
        elif name.removesuffix(".") in mapped or (private and len(self.names) < KEPT):
            self.names[name] = None


def survey(entries: Iterable[Entry], mapped: Container[str] = ()) -> SeedSurvey:
    """Read a seed list once, for a survey; only the survey is kept.

    Args:
        entries: The seed list.
        mapped: Names that the operator gave addresses (`dns.hosts`).
    """
    seed_survey = SeedSurvey()
    for entry in entries:
        if isinstance(entry, Seed):
            seed_survey.note(entry, mapped)
        elif isinstance(entry, SeedDirective):
            seed_survey.directives.append(entry.text)
        else:
            seed_survey.bad_count += 1
            if len(seed_survey.bad) < KEPT:
                seed_survey.bad.append(entry)
    return seed_survey
