"""Passwords that are refused because many people use them (pure).

No list of others is copied: ten thousand are made by a rule, from words that are known to be common
and from what people add to them, the most usual first. Beside them all passwords of certain forms
are refused: a few characters over and over, ways along a keyboard, and the user's own name.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice, pairwise
from typing import Final

NUMBER: Final = 10_000
"""Passwords that the rule makes."""
SHORTEST: Final = 12
"""Characters of the shortest of them, as of the shortest password that is taken."""
_LEAST_LEFT: Final = 8
"""Minimum characters of a password without names, and without digits at its ends."""
_LEAST_DIFFERENT: Final = 5
"""Minimum number of different characters in a password."""
_MOST_NEIGHBOURS: Final = 0.7
"""Maximum share of characters that are neighbours of the one before, as in `qwerty` or `123`."""

_WORD_TEXT = """
password qwerty admin welcome letmein iloveyou monkey dragon football baseball sunshine princess
master shadow superman batman trustno michael jordan starwars whatever freedom hello charlie
computer internet secret changeme default administrator root login access system server service
network security user guest test testing temp temporary summer winter spring autumn january
february march april june july august september october november december monday tuesday wednesday
thursday friday saturday sunday liverpool chelsea arsenal barcelona madrid juventus bayern yankees
lakers cowboys hockey soccer basketball killer hunter ranger buster thomas robert daniel andrew
joshua jennifer jessica michelle amanda nicole ashley samantha elizabeth victoria alexander
nicholas matthew anthony william samsung google facebook microsoft windows apple android linux
ubuntu debian oracle cisco pokemon naruto minecraft matrix phoenix diamond silver golden orange
banana cookie chocolate cheese pepper ginger flower butterfly angel heaven lovely forever family
mother father brother friend london paris berlin moscow america canada australia england germany
china beijing shanghai passwort hallo schatz sommer geheim kennwort motdepasse azerty bonjour
soleil contrasena hola amigo teamo parol privet woaini woaiwojia wodemima zhongguo mima aini
wangyut nihao daohang library archive museum archivist crawler heritrix console operator manager
office company student teacher school college university mustang ferrari porsche mercedes corvette
harley yamaha eagles tigers rangers maverick warrior knight wizard merlin gandalf skywalker vader
spiderman pussycat creative blessed jesus christ faith grace maggie bailey cooper rocky lucky
snoopy tigger mickey garfield abcdef asdfgh zxcvbn qazwsx qweasd asdf zxcv qwer abcd abc
"""
_DIGIT_TEXT = """
123456 1234567 12345678 123456789 1234567890 12345 1234 123 000000 111111 123123 654321 666666
888888 112233 121212 5201314 1314520 520520 147258 159357 101010 987654321
"""
_WORDS: Final = tuple(_WORD_TEXT.split())
_DIGITS: Final = tuple(_DIGIT_TEXT.split())
_MARKS: Final = ("!", ".", "@", "#", "*", "?", "!!", "$", "_")
_YEARS: Final = tuple(str(year) for year in (*range(2026, 1959, -1),))

_ROWS: Final = (
    "qwertyuiop[]", "asdfghjkl;'", "zxcvbnm,./", "qwertzuiopü", "azertyuiop", "1234567890-=",
    "!@#$%^&*()_+", "abcdefghijklmnopqrstuvwxyz", "1qaz", "2wsx", "3edc", "4rfv", "5tgb", "6yhn",
    "7ujm", "8ik,", "9ol.", "0p;/", "qaz", "wsx", "edc", "rfv", "tgb", "yhn", "ujm", "147", "258",
    "369", "741", "852", "963",
)  # fmt: skip
_LOOKALIKES: Final = str.maketrans("@430$5!17+", "aaeossiltt")


def why_refused(password: str, names: Iterable[str] = ()) -> str:
    """The reason for which a password is refused; "" for one that is taken. Its length is not seen.

    Args:
        password: The password.
        names: What it must not mainly be made of, such as the name of the user.
    """
    if refused_passwords() & forms_of(password):
        return "it is one of the ten thousand that are tried first"
    if len(set(password)) < _LEAST_DIFFERENT or _is_repeated(password.lower()):
        return "it is a few characters over and over"
    if _neighbours(password.lower()) > _MOST_NEIGHBOURS:
        return "it is a way along the keyboard, or a row of letters or digits"
    if len(_without(password, ("nacre", "console", *names))) < _LEAST_LEFT:
        return "it is little more than a name"
    return ""


def forms_of(password: str) -> set[str]:
    """A password in lower case, also with signs read as the letters that they look like."""
    lower = password.lower()
    stem = lower.rstrip("0123456789!.@#*?$_")
    tail = lower[len(stem) :]
    return {lower, stem.translate(_LOOKALIKES) + tail, lower.translate(_LOOKALIKES)}


@cache
def refused_passwords() -> frozenset[str]:
    """The ten thousand, in lower case."""
    passwords = dict.fromkeys(line for line in _generated_passwords() if len(line) >= SHORTEST)
    return frozenset(islice(passwords, NUMBER))


def _generated_passwords() -> Iterator[str]:
    """All that the rule makes, the most usual first."""
    for word in _WORDS:
        yield from (word, word * 2, word * 3)
    additions = [*_DIGITS, "1", "12", "01", "007", *_YEARS[:20]]
    additions += [year + mark * 2 for mark in "!.*" for year in _YEARS[:12]]
    additions += ["1!", "12!", "123!@#", "!@#", "@123", "#123", "a", "aa", "abc", "qwe", "zxc"]
    additions += [digits + mark for mark in _MARKS[:4] for digits in (*_DIGITS[:8], *_YEARS[:12])]
    additions += [mark + digits for mark in _MARKS[:4] for digits in (*_DIGITS[:8], *_YEARS[:12])]
    additions += [*_YEARS[20:], *_MARKS]
    for addition in additions:
        for word in _WORDS:
            yield word + addition
    for first in _WORDS:
        for second in _WORDS:
            yield first + second


def _is_repeated(text: str) -> bool:
    """Whether it is one to six characters over and over."""
    return any(text == (text[:unit] * len(text))[: len(text)] for unit in range(1, 7))


@cache
def _pairs() -> frozenset[str]:
    ways = [*_ROWS, *(row[::-1] for row in _ROWS)]
    return frozenset(a + b for row in ways for a, b in pairwise(row))


def _neighbours(text: str) -> float:
    """The share of characters that are the one before again, or its neighbour."""
    pairs = [a + b for a, b in pairwise(text)]
    if not pairs:
        return 0.0
    return sum(pair[0] == pair[1] or pair in _pairs() for pair in pairs) / len(pairs)


def _without(password: str, names: Iterable[str]) -> str:
    """Return a password without names; if it had one, also without digits and signs at its ends."""
    text = password.lower()
    for name in sorted((name.lower() for name in names), key=len, reverse=True):
        if len(name) >= 3:
            text = text.replace(name, "")
    return text.strip("0123456789!.@#*?$_- ") if text != password.lower() else text
