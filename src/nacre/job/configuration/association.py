"""Which URIs sheets apply to: what `sheet_associations` may say."""

from pydantic import field_validator, model_validator

from nacre.config.component import Component, setting
from nacre.errors import URIError
from nacre.scope.rules import AnyRule
from nacre.uri.surt import implied_prefix


class SheetAssociation(Component):
    """Sheets, and the URIs that they apply to: by SURT prefixes, or by rules that say ACCEPT.

    All prefixes that match count, the shortest first; then come the rules, in their order. For each
    property the last sheet wins. https counts as http.
    """

    sheets: tuple[str, ...] = setting(
        ..., "Names of the sheets, the strongest last.", min_length=1, sheets=False
    )
    surts: tuple[str, ...] = setting(
        (),
        "SURT prefixes, or URLs that imply them: `http://example.org` is the domain with all below "
        "it, `http://example.org/` this host only, `http://example.org/a/` what is below it.",
        sheets=False,
    )
    surts_file: str = setting(
        "", "File with such prefixes, one a line, relative to the job. Empty: none.", sheets=False
    )
    rule: AnyRule | None = setting(None, "A DecideRule.", sheets=False)
    rules: tuple[AnyRule, ...] = setting(
        (), "Several: the last opinion wins, as in the scope.", sheets=False
    )
    order: int = setting(
        0, "Of associations by rules: later ones are stronger; equal ones as listed.", sheets=False
    )

    @property
    def all_rules(self) -> tuple[AnyRule, ...]:
        """`rule` or `rules`; empty for an association by prefixes."""
        return self.rules if self.rule is None else (self.rule,)

    @field_validator("surts")
    @classmethod
    def _readable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            try:
                implied_prefix(text.lstrip("+"))
            except URIError as error:
                raise ValueError(f"{text!r} is neither a SURT prefix nor a URL: {error}") from None
        return value

    @model_validator(mode="after")
    def _one_kind(self) -> "SheetAssociation":
        given = [bool(self.surts or self.surts_file), self.rule is not None, bool(self.rules)]
        if sum(given) != 1:
            raise ValueError("needs one of: surts or surts_file; rule; rules")
        return self
