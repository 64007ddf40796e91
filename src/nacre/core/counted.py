"""Numbers with their nouns (pure)."""


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun: `1 page`, `1,234 pages`.

    Args:
        number: The number.
        noun: The noun of one thing.
        nouns: The plural; "" for the noun with an s.
    """
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"
