"""The link rules at work: is a link new by its looks, or does it come late? (pure).

One row for the templates of a site that differ only in their plain words. Whether a URL is known
has the last word: a link that the rule takes for old and nobody knows is fetched too, and marked.
"""

from collections.abc import MutableMapping

import msgspec

from nacre.history.finding.linkrules import Choice, LinkHistory, LinkRule
from nacre.history.finding.urlshape import Shaped, shaped
from nacre.history.worth.classes import layout
from nacre.uri.parse import authority

LATE = "late"
"""Reason of a visit: a new page that its rule would not have taken for new."""


class RuleRow(msgspec.Struct, array_like=True):
    """What the links of some templates have shown; kept in the store.

    Attributes:
        history: Their dates and numbers.
        foreseen: New links that the rule took for new.
        late: New links that it did not: the rule alone would have missed them.
    """

    history: LinkHistory = msgspec.field(default_factory=LinkHistory)
    foreseen: int = 0
    late: int = 0

    @property
    def share(self) -> float | None:
        """Share of the new links that the rule found; None where it judged none."""
        judged = self.foreseen + self.late
        return self.foreseen / judged if judged else None


class LinkWatch:
    """Watches new links by their rules.

    Args:
        rows: By `rule_name`; None for a dictionary.
    """

    def __init__(self, rows: MutableMapping[str, RuleRow] | None = None) -> None:
        self._rows = {} if rows is None else rows
        self._choices: dict[str, Choice] = {}

    def begin_step(self) -> None:
        """Begin a step: rules are chosen once for it, from what was known before."""
        self._choices.clear()

    def meet(self, url: str, now: float, watermark: float) -> bool | None:
        """A link that nobody knew: whether its rule takes it for new; None where it cannot tell.

        Args:
            url: Where it leads.
            now: When it was met, seconds since the epoch.
            watermark: When the list that shows it was visited before; 0 for never.
        """
        one = shaped(url)
        name = rule_name(url, one.name)
        row = self._rows.get(name)
        if row is None:
            row = self._rows[name] = RuleRow()
        is_new: bool | None = None
        if watermark:
            choice = self._choice(name, row)
            is_new = choice.looks_new(one.tokens, watermark)
            if choice.rule is not LinkRule.KEY:
                row.foreseen += is_new is True
                row.late += is_new is False
        row.history.add(one.tokens, now)
        return is_new

    def choice(self, url: str, one: Shaped) -> Choice:
        """The rule of a URL, as it was known when the step began."""
        name = rule_name(url, one.name)
        row = self._rows.get(name)
        return Choice(LinkRule.KEY) if row is None else self._choice(name, row)

    def _choice(self, name: str, row: RuleRow) -> Choice:
        found = self._choices.get(name)
        if found is None:
            found = self._choices[name] = row.history.choice()
        return found


def rule_name(url: str, template: str) -> str:
    """Site and layout of a URL: what shares a rule."""
    return f"{authority(url)} {layout(template)}"
