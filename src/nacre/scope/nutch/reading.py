"""Rule files as configurations name them: read by whoever may open files."""

from nacre.errors import ConfigError, Problem
from nacre.scope.nutch.filters import ReadLines, RuleText
from nacre.scope.nutch.ruling import Source


def reading(text: RuleText, read_lines: ReadLines) -> Source:
    """The rules that a component names.

    Raises:
        ConfigError: The file cannot be read.
    """
    try:
        return text.source(read_lines)
    except OSError as error:
        reason = error.strerror or str(error)
        problem = Problem("", f"cannot be read: {reason}", "a rule file", file=text.file)
        raise ConfigError([problem]) from None
