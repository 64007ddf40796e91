"""Values of `Content-Usage` and `Content-Signal`.

Sources: draft-ietf-aipref-vocab, "Exemplary Serialization Format": a dictionary of structured
fields, whose values are the tokens `y` and `n`; a dictionary with a mistake states nothing.
Content signals: pairs with commas between them, `yes` and `no`.
"""

from nacre.rights.vocabulary import ALLOWED, DISALLOWED, MOST_STATED, Preference, preference
from nacre.wire.structured_fields import (
    FieldItem,
    FieldSyntaxError,
    FieldToken,
    parse_dictionary,
)

_ANSWERS = {"yes": ALLOWED, "no": DISALLOWED, "y": ALLOWED, "n": DISALLOWED}


def usage_preferences(value: str) -> tuple[Preference, ...]:
    """Return the preferences of a `Content-Usage` value; none if it is no dictionary.

    Keys without `y` or `n` state nothing. Keys that the draft does not define are kept: a later
    draft may define them, and older ones did.
    """
    try:
        fields = parse_dictionary(value)
    except FieldSyntaxError:
        return ()
    stated = []
    for key, member in fields.items():
        if not isinstance(member, FieldItem) or not isinstance(member.value, FieldToken):
            continue
        if member.value in (ALLOWED, DISALLOWED):
            stated.append(preference(key, str(member.value)))
    return tuple(stated[:MOST_STATED])


def signal_preferences(value: str) -> tuple[Preference, ...]:
    """Return the preferences of a `Content-Signal` value; parts that are no pairs are skipped."""
    stated: dict[str, Preference] = {}
    for part in value.lower().split(",")[:MOST_STATED]:
        key, equals, answer = (word.strip() for word in part.partition("="))
        if equals and key and answer and " " not in key + answer:
            stated[key] = preference(key, _ANSWERS.get(answer, answer))
    return tuple(stated.values())
