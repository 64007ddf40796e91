"""DecideRules on where a URI lies: its SURT and sets of SURT prefixes."""

from typing import Literal

from pydantic import field_validator

from nacre.config.component import setting
from nacre.errors import URIError
from nacre.scope.decide import Predicated
from nacre.scope.places import Places
from nacre.scope.rule import Decision, Predicate, Subject
from nacre.scope.state import Coercion, ScopeState
from nacre.uri.surt import SurtPrefixSet, implied_prefix


class SurtPrefixed(Predicated):
    """The URI's SURT begins with a prefix of the set; https counts as http.

    With decision ACCEPT the set grows by the seed file's `+` lines, with REJECT by its `-` lines.
    """

    rule: Literal["surt-prefixed", "SurtPrefixedDecideRule"] = "surt-prefixed"
    seeds_as_prefixes: bool = setting(True, "The seeds imply prefixes.")
    prefixes: tuple[str, ...] = setting(
        (), "SURT prefixes, or URLs that imply them (a trailing slash means this host only)."
    )
    coerce: Coercion = setting(
        Coercion.PREFIX, "What the seeds imply: `prefix`, their `host`, `domain` or `site`."
    )
    also_check_via: bool = setting(False, "A URI whose via matches is in too.")

    @field_validator("prefixes")
    @classmethod
    def _readable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            try:
                implied_prefix(text.lstrip("+"))
            except URIError as error:
                raise ValueError(f"{text!r} is neither a SURT prefix nor a URL: {error}") from None
        return value

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        sets = [state.directives(accept=self.decision is Decision.ACCEPT)]
        if self.prefixes:
            sets.append(SurtPrefixSet(implied_prefix(text.lstrip("+")) for text in self.prefixes))
        if self.seeds_as_prefixes:
            sets.append(state.seed_prefixes(self.coerce))
        places = Places(sets)
        state.watch(places.forget)
        holds = places.hold
        if not self.also_check_via:
            return lambda subject: not places.empty and holds(subject.url)

        def test(subject: Subject) -> bool:
            return holds(subject.url) or (subject.via != "" and holds(subject.via))

        return test
