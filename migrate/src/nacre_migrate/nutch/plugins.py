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
"""Plugins by the beginning of their names: place, suggested replacement, and reason."""

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
        supported = _ALL
        former = {new: old for old, new in _FORMER.items()}
        self.active = [
            name
            for name in supported
            if any(
                includes.fullmatch(candidate) and not excludes.fullmatch(candidate)
                for candidate in (name, former.get(name, name))
            )
        ]
        self.unknown = [
            name
            for name in _alternatives(conf.value("plugin.includes"))
            if name not in (*supported, *_FORMER) and not excludes.fullmatch(name)
        ]
        self._of_others = [name for name in self.unknown if name.startswith(_NO_PART)]
        self.unknown = [name for name in self.unknown if name not in self._of_others]

    def answer(self, answers: ClassAnswers) -> tuple[list[Problem], list[Question]]:
        """Replace unknown plugins by those of the operator's answers.

        Returns:
            Answers that mean nothing, and plugins without an answer.
        """
        problems, questions = [], []
        for name in self.unknown:
            replacement = answers.of(name)
            if not replacement:
                questions.append(self._question(name))
            elif replacement == DROP:
                self.dropped.append(name)
            elif replacement in _ALL:
                self.active += [] if replacement in self.active else [replacement]
                self.taken.append((name, replacement))
            else:
                near = difflib.get_close_matches(replacement, _ALL, n=1, cutoff=0.6)
                hint = f"perhaps {near[0]}; or {DROP}" if near else f"a plugin of Nutch, or {DROP}"
                problems.append(
                    Problem(name, f"`{replacement}` is not a plugin that is known here", hint)
                )
        return problems, questions

    def _question(self, name: str) -> Question:
        prop = self._conf.winner("plugin.includes")
        kind, _, own = name.partition("-")
        replaceable = [
            plugin.partition("-")[2] for plugin in _REPLACEABLE if plugin.startswith(f"{kind}-")
        ]
        near = [
            f"{kind}-{plugin}" for plugin in difflib.get_close_matches(own, replaceable, 1, 0.75)
        ]
        kinds = [plugin for begin, plugin in _PLACES.items() if name.startswith(begin)]
        place, answer, reason = kinds[0] if kinds else ("is on", DROP, _NOT_DONE)
        if near:
            answer, reason = near[0], f"its name is like {near[0]}"
        file, line = (prop.file, prop.line) if prop is not None else ("nutch-default.xml", 0)
        return Question(name, "plugin.includes", place, answer, reason, file, line)

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
    """The names in an expression such as `a-(b|c)|d`; other expressions have none."""
    names, _ = _either(expression[:_LONGEST].replace("(?:", "("), 0, 0)
    return list(dict.fromkeys(name for part in names if _NAME.match(name := part.strip())))


def _either(text: str, place: int, depth: int) -> tuple[list[str], int]:
    """The names of an alternation that begins at a place, and where it ends."""
    texts: list[str] = []
    now = [""]
    while place < len(text) and text[place] != ")":
        if text[place] == "|":
            texts, now = texts + now, [""]
            place += 1
        elif text[place] == "(" and depth < _DEEPEST:
            inner, place = _either(text, place + 1, depth + 1)
            now = [a + b for a in now for b in inner][:_MANY]
            place += 1
        else:
            now = [beginning + text[place] for beginning in now]
            place += 1
    return (texts + now)[:_MANY], place


def _pattern(conf: Conf, name: str) -> re.Pattern[str]:
    try:
        return re.compile(conf.value(name))
    except re.error as error:
        prop = conf.winner(name)
        message = f"{name} is not a regular expression: {error}"
        where = (prop.file, prop.line) if prop else ("", 0)
        raise ConfigError([Problem("", message, file=where[0], line=where[1])]) from None


_PACKAGE = "org.apache.nutch."


class _Place(NamedTuple):
    """A property with the name of a class.

    Attributes:
        place: What the class does, for people.
        classes: Nutch's own, without package.
        lost: The effect of leaving it out.
    """

    place: str
    classes: tuple[str, ...]
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
    """Replace unknown classes by those of the operator's answers.

    Raises:
        UnansweredError: Some are not answered; it has the questions for all of them.
        ConfigError: An answer means nothing.
    """
    problems, questions = plugins.answer(answers)
    classes = [name for name in _CLASS_PLACES if _is_foreign(conf, name)]
    names = [*plugins.unknown, *plugins.active]
    names += [
        form for name in classes for form in (conf.value(name), _class_name(conf.value(name)))
    ]
    problems += answers.unused(names, "this configuration")
    for name in classes:
        value = conf.value(name)
        answer = answers.of(value, _class_name(value))
        if not answer:
            questions.append(_question(conf, name))
        elif answer == DROP:
            conf.replace(name, STOCK.get(name, ""))
        elif _class_name(answer) in _CLASS_PLACES[name].classes:
            conf.replace(name, _class_name(answer))
        else:
            hint = f"{', '.join(_CLASS_PLACES[name].classes)}, or {DROP}"
            problems.append(Problem(value, f"`{answer}` is not allowed there", hint))
    if problems:
        raise ConfigError(problems)
    if questions:
        raise UnansweredError(questions)


def _class_name(name: str) -> str:
    return name.strip().rpartition(".")[2]


def _is_foreign(conf: Conf, name: str) -> bool:
    value = conf.value(name).strip()
    if not value or value == STOCK.get(name):
        return False
    return _class_name(value) not in _CLASS_PLACES[name].classes or (
        "." in value and not value.startswith(_PACKAGE)
    )


def _question(conf: Conf, name: str) -> Question:
    place, value = _CLASS_PLACES[name], conf.value(name)
    plain = _class_name(value)
    inside = [kind for kind in sorted(place.classes, key=len, reverse=True) if kind in plain]
    near = inside or difflib.get_close_matches(plain, place.classes, n=1, cutoff=0.7)
    answer, reason = DROP, f"nothing here is like it: {place.lost}"
    if near:
        answer, reason = near[0], f"its name is like {near[0]}"
    prop = conf.winner(name)
    file, line = (prop.file, prop.line) if prop is not None else ("nutch-default.xml", 0)
    return Question(value, name, place.place, answer, reason, file, line)
