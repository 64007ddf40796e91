"""Plugins that a configuration of Nutch switches on, and what Nacre has for them."""

import difflib
import re
from typing import NamedTuple

from nacre.errors import ConfigError, Problem
from nacre_migrate.answers import DROP, ClassAnswers, Question, UnansweredError
from nacre_migrate.files import read_table
from nacre_migrate.nutch.conf import STOCK, Conf

_TABLES = read_table(__package__, "plugins.toml")

FILTERS: dict[str, str] = _TABLES["filters"]
"""Plugins that are URL filters, and their names here."""

NORMALIZERS: dict[str, str] = _TABLES["normalizers"]
"""Plugins that are URL normalizers, and their names here."""

EXEMPT = "urlfilter-ignoreexempt"
DEPTH = "scoring-depth"

_OF_THE_CYCLE: list[str] = _TABLES["of_the_cycle"]
_FOREIGN: list[str] = _TABLES["foreign"]
_FORMER: dict[str, str] = _TABLES["former"]
"""Names that plugins had in earlier releases, and those of now."""
_NO_PART = tuple(_TABLES["no_part"])
"""Beginnings of plugins that are not part of a crawl, whoever has made them."""

_REPLACEABLE = (*FILTERS, *NORMALIZERS, EXEMPT)
"""Plugins that an unknown one can be treated as."""

_ALL = (*FILTERS, *NORMALIZERS, EXEMPT, *_TABLES["covered"], *_OF_THE_CYCLE, *_FOREIGN)
_NOT_DONE = "nothing here is like it: what it does is not done"
_PLACES = {
    begin: (row["what"], row["nearest"], row["why"]) for begin, row in _TABLES["places"].items()
}
"""What plugins do whose names begin so; what they are taken for, and why."""

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*\Z")
_MANY = 1000
_DEEPEST = 50
_LONGEST = 20_000


class Plugins:
    """The plugins that are on.

    Attributes:
        active: Those that are known, by name.
        unknown: Unknown ones that may filter, fetch or read.
        dropped: Of these, those that the operator leaves out.
        taken: Of these, those that are read as a known one, and which.

    Raises:
        ConfigError: `plugin.includes` or `plugin.excludes` is not an expression.
    """

    def __init__(self, conf: Conf) -> None:
        self._conf = conf
        self.dropped: list[str] = []
        self.taken: list[tuple[str, str]] = []
        includes = _pattern(conf, "plugin.includes")
        excludes = _pattern(conf, "plugin.excludes")
        known = _ALL
        former = {new: old for old, new in _FORMER.items()}
        self.active = [
            name
            for name in known
            if any(
                includes.fullmatch(one) and not excludes.fullmatch(one)
                for one in (name, former.get(name, name))
            )
        ]
        self.unknown = [
            name
            for name in _alternatives(conf.value("plugin.includes"))
            if name not in (*known, *_FORMER) and not excludes.fullmatch(name)
        ]
        self._of_others = [name for name in self.unknown if name.startswith(_NO_PART)]
        self.unknown = [name for name in self.unknown if name not in self._of_others]

    def answer(self, answers: ClassAnswers) -> tuple[list[Problem], list[Question]]:
        """Take plugins that are not known for those that the operator says.

        Returns:
            Answers that mean nothing, and what is not answered.
        """
        problems, questions = [], []
        for name in self.unknown:
            said = answers.of(name)
            if not said:
                questions.append(self._question(name))
            elif said == DROP:
                self.dropped.append(name)
            elif said in _ALL:
                self.active += [] if said in self.active else [said]
                self.taken.append((name, said))
            else:
                near = difflib.get_close_matches(said, _ALL, n=1, cutoff=0.6)
                hint = f"perhaps {near[0]}; or {DROP}" if near else f"a plugin of Nutch, or {DROP}"
                problems.append(Problem(name, f"`{said}` is not a plugin that is known here", hint))
        return problems, questions

    def _question(self, name: str) -> Question:
        found = self._conf.winner("plugin.includes")
        kind, _, own = name.partition("-")
        known = [one.partition("-")[2] for one in _REPLACEABLE if one.startswith(f"{kind}-")]
        near = [f"{kind}-{one}" for one in difflib.get_close_matches(own, known, 1, 0.75)]
        kinds = [one for begin, one in _PLACES.items() if name.startswith(begin)]
        place, what, why = kinds[0] if kinds else ("is on", DROP, _NOT_DONE)
        if near:
            what, why = near[0], f"its name is like {near[0]}"
        file, line = (found.file, found.line) if found is not None else ("nutch-default.xml", 0)
        return Question(name, "plugin.includes", place, what, why, file, line)

    def __contains__(self, name: str) -> bool:
        """The plugin is on."""
        return name in self.active

    @property
    def of_the_cycle(self) -> list[str]:
        """The plugins that score and index: no part of a crawl."""
        of_nutch = [name for name in self.active if name in _OF_THE_CYCLE and name != DEPTH]
        return [*of_nutch, *self._of_others]

    @property
    def foreign(self) -> list[str]:
        """The plugins that fetch or read what Nacre does not."""
        return [name for name in self.active if name in _FOREIGN]


def _alternatives(expression: str) -> list[str]:
    """The names that an expression such as `a-(b|c)|d` writes out; nothing of what is more."""
    names, _ = _either(expression[:_LONGEST].replace("(?:", "("), 0, 0)
    return list(dict.fromkeys(name for one in names if _NAME.match(name := one.strip())))


def _either(text: str, place: int, depth: int) -> tuple[list[str], int]:
    """The names of an alternation that begins at a place, and where it ends."""
    found: list[str] = []
    now = [""]
    while place < len(text) and text[place] != ")":
        if text[place] == "|":
            found, now = found + now, [""]
            place += 1
        elif text[place] == "(" and depth < _DEEPEST:
            inner, place = _either(text, place + 1, depth + 1)
            now = [a + b for a in now for b in inner][:_MANY]
            place += 1
        else:
            now = [one + text[place] for one in now]
            place += 1
    return (found + now)[:_MANY], place


def _pattern(conf: Conf, name: str) -> re.Pattern[str]:
    try:
        return re.compile(conf.value(name))
    except re.error as error:
        found = conf.winner(name)
        message = f"{name} is not a regular expression: {error}"
        where = (found.file, found.line) if found else ("", 0)
        raise ConfigError([Problem("", message, file=where[0], line=where[1])]) from None


_PACKAGE = "org.apache.nutch."


class _Place(NamedTuple):
    """A property that names a class.

    Attributes:
        place: What the class does, for people.
        known: Nutch's own, without package.
        lost: What holds where it is left out.
    """

    place: str
    known: tuple[str, ...]
    lost: str


_CLASS_PLACES = {
    "db.fetch.schedule.class": _Place(
        "says when pages are fetched again",
        ("DefaultFetchSchedule", "AdaptiveFetchSchedule", "MimeAdaptiveFetchSchedule"),
        "`nacre recrawl` plans visits itself",
    ),
    "db.signature.class": _Place(
        "says whether a page has changed",
        ("MD5Signature", "TextProfileSignature"),
        "pages are compared by their pieces",
    ),
}


def settle_unknown(conf: Conf, plugins: Plugins, answers: ClassAnswers) -> None:
    """Take what is not known for what the operator says.

    Raises:
        UnansweredError: Some are not answered; it has the questions for all of them.
        ConfigError: An answer means nothing.
    """
    problems, questions = plugins.answer(answers)
    classes = [name for name in _CLASS_PLACES if _is_foreign(conf, name)]
    names = [*plugins.unknown, *plugins.active]
    names += [form for name in classes for form in (conf.value(name), _plain(conf.value(name)))]
    problems += answers.unused(names, "this configuration")
    for name in classes:
        value = conf.value(name)
        said = answers.of(value, _plain(value))
        if not said:
            questions.append(_question(conf, name))
        elif said == DROP:
            conf.replace(name, STOCK.get(name, ""))
        elif _plain(said) in _CLASS_PLACES[name].known:
            conf.replace(name, _plain(said))
        else:
            hint = f"{', '.join(_CLASS_PLACES[name].known)}, or {DROP}"
            problems.append(Problem(value, f"`{said}` is not allowed there", hint))
    if problems:
        raise ConfigError(problems)
    if questions:
        raise UnansweredError(questions)


def _plain(name: str) -> str:
    return name.strip().rpartition(".")[2]


def _is_foreign(conf: Conf, name: str) -> bool:
    value = conf.value(name).strip()
    if not value or value == STOCK.get(name):
        return False
    return _plain(value) not in _CLASS_PLACES[name].known or (
        "." in value and not value.startswith(_PACKAGE)
    )


def _question(conf: Conf, name: str) -> Question:
    place, value = _CLASS_PLACES[name], conf.value(name)
    plain = _plain(value)
    inside = [one for one in sorted(place.known, key=len, reverse=True) if one in plain]
    near = inside or difflib.get_close_matches(plain, place.known, n=1, cutoff=0.7)
    what, why = DROP, f"nothing here is like it: {place.lost}"
    if near:
        what, why = near[0], f"its name is like {near[0]}"
    found = conf.winner(name)
    file, line = (found.file, found.line) if found is not None else ("nutch-default.xml", 0)
    return Question(value, name, place.place, what, why, file, line)
