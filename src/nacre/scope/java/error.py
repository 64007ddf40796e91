"""What cannot be translated."""


class JavaRegexError(ValueError):
    """An expression, or a construct of it, that is not understood; the message names it."""
