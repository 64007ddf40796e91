"""Plugins and classes that are not Nutch's own, where a known one is needed."""

import difflib
from typing import NamedTuple

from nacre.errors import ConfigError, Problem
from nacre.migrate.answers import DROP, Answers, Question, UnansweredError
from nacre.migrate.nutch.conf import Conf
from nacre.migrate.nutch.defaults import DEFAULTS
from nacre.migrate.nutch.plugins import Plugins

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


_PLACES = {
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


def settle_unknown(conf: Conf, plugins: Plugins, answers: Answers) -> None:
    """Take what is not known for what the operator says.

    Raises:
        UnansweredError: Some is not answered; all of it is told.
        ConfigError: An answer means nothing.
    """
    problems, questions = plugins.answer(answers)
    classes = [name for name in _PLACES if _is_foreign(conf, name)]
    names = [*plugins.unknown, *plugins.active]
    names += [form for name in classes for form in (conf.value(name), _plain(conf.value(name)))]
    problems += answers.unused(names, "this configuration")
    for name in classes:
        value = conf.value(name)
        said = answers.of(value, _plain(value))
        if not said:
            questions.append(_question(conf, name))
        elif said == DROP:
            conf.replace(name, DEFAULTS.get(name, ""))
        elif _plain(said) in _PLACES[name].known:
            conf.replace(name, _plain(said))
        else:
            hint = f"{', '.join(_PLACES[name].known)}, or {DROP}"
            problems.append(Problem(value, f"`{said}` is nothing that can stand there", hint))
    if problems:
        raise ConfigError(problems)
    if questions:
        raise UnansweredError(questions)


def _plain(name: str) -> str:
    return name.strip().rpartition(".")[2]


def _is_foreign(conf: Conf, name: str) -> bool:
    value = conf.value(name).strip()
    if not value or value == DEFAULTS.get(name):
        return False
    return _plain(value) not in _PLACES[name].known or (
        "." in value and not value.startswith(_PACKAGE)
    )


def _question(conf: Conf, name: str) -> Question:
    place, value = _PLACES[name], conf.value(name)
    plain = _plain(value)
    inside = [one for one in sorted(place.known, key=len, reverse=True) if one in plain]
    near = inside or difflib.get_close_matches(plain, place.known, n=1, cutoff=0.7)
    what, why = DROP, f"nothing here is like it: {place.lost}"
    if near:
        what, why = near[0], f"its name is like {near[0]}"
    found = conf.winner(name)
    file, line = (found.file, found.line) if found is not None else ("nutch-default.xml", 0)
    return Question(value, name, place.place, what, why, file, line)
