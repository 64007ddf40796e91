"""The test of a rule that matches the URL with expressions."""

from nacre.scope.hops import is_embed
from nacre.scope.patterns import PatternList
from nacre.scope.subject import Subject


class UrlMatch:
    """A predicate; lists of neighbours can be asked together (`scope.merge`).

    Args:
        patterns: What is looked for.
        negate: True when nothing of it matches.
        spare: Never true of seeds, prerequisites and embeds.
    """

    __slots__ = ("_matches", "negate", "patterns", "spare")

    def __init__(self, patterns: PatternList, *, negate: bool = False, spare: bool = False) -> None:
        self.patterns = patterns
        self.negate = negate
        self.spare = spare
        self._matches = patterns.matches

    def __call__(self, subject: Subject) -> bool:
        """See the class."""
        if self._matches(subject.url) is self.negate:
            return False
        return not self.spare or not (subject.is_seed or is_embed(subject.path))

    @property
    def is_mergeable(self) -> bool:
        """It is true only where one of its expressions matches, all of them in linear time."""
        return not self.negate and self.patterns.is_any_linear
