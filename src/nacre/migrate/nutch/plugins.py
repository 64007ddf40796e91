"""Which plugins of Nutch a configuration switches on, and what Nacre has for them."""

import difflib
import re

from nacre.errors import ConfigError, Problem
from nacre.migrate.answers import DROP, Answers, Question, UnansweredError
from nacre.migrate.nutch.conf import Conf

FILTERS = {
    "urlfilter-regex": "regex",
    "urlfilter-automaton": "automaton",
    "urlfilter-domain": "domain",
    "urlfilter-domaindenylist": "domain-denylist",
    "urlfilter-prefix": "prefix",
    "urlfilter-suffix": "suffix",
    "urlfilter-validator": "validator",
    "urlfilter-fast": "fast",
}
"""Plugins that are URL filters, and their names here."""

NORMALIZERS = {
    f"urlnormalizer-{name}": name
    for name in ("basic", "regex", "host", "querystring", "slash", "protocol", "ajax", "pass")
}
"""Plugins that are URL normalizers, and their names here."""

EXEMPT = "urlfilter-ignoreexempt"
DEPTH = "scoring-depth"

_COVERED = (
    "protocol-http",
    "protocol-httpclient",
    "protocol-okhttp",
    "parse-html",
    "parse-tika",
    "parse-js",
    "parse-zip",
    "feed",
    "lib-http",
    "lib-nekohtml",
    "lib-regex-filter",
    "nutch-extensionpoints",
)
_OF_THE_CYCLE = [
    "scoring-opic",
    "scoring-link",
    "scoring-depth",
    "scoring-orphan",
    "scoring-metadata",
    "scoring-similarity",
    "index-basic",
    "index-anchor",
    "index-more",
    "index-metadata",
    "index-static",
    "index-geoip",
    "index-links",
    "index-replace",
    "index-jexl-filter",
    "index-arbitrary",
    "indexer-solr",
    "indexer-elastic",
    "indexer-csv",
    "indexer-opensearch-1x",
    "indexer-kafka",
    "indexer-rabbit",
    "indexer-dummy",
    "indexer-cloudsearch",
    "language-identifier",
    "subcollection",
    "tld",
    "urlmeta",
    "mimetype-filter",
    "microformats-reltag",
    "headings",
    "creativecommons",
    "parse-metatags",
    "parsefilter-regex",
    "parsefilter-naivebayes",
    "parsefilter-debug",
    "exchange-jexl",
    "publish-rabbitmq",
]
_FOREIGN = [
    "protocol-ftp",
    "protocol-file",
    "protocol-foo",
    "protocol-htmlunit",
    "protocol-selenium",
    "protocol-interactiveselenium",
    "parse-ext",
    "parse-swf",
]


_REPLACEABLE = (*FILTERS, *NORMALIZERS, EXEMPT)
"""Plugins that one of somebody else can be taken for."""

_PLACES = {
    "urlfilter": "filters URLs",
    "urlnormalizer": "normalizes URLs",
    "protocol": "fetches",
    "parse": "finds links",
    "scoring": "scores pages",
    "index": "indexes pages",
}

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*\Z")
_GROUP = re.compile(r"([\w.-]*)\(([^()]*)\)([\w.-]*)")
_MANY = 1000


class Plugins:
    """The plugins that are on.

    Raises:
        ConfigError: `plugin.includes` or `plugin.excludes` is no expression.
    """

    def __init__(self, conf: Conf) -> None:
        self._conf = conf
        self.dropped: list[str] = []
        includes = _pattern(conf, "plugin.includes")
        excludes = _pattern(conf, "plugin.excludes")
        known = (
            *FILTERS,
            *NORMALIZERS,
            EXEMPT,
            *_COVERED,
            *_OF_THE_CYCLE,
            *_FOREIGN,
        )
        self.active = [
            name for name in known if includes.fullmatch(name) and not excludes.fullmatch(name)
        ]
        self.unknown = [
            name
            for name in _alternatives(conf.value("plugin.includes"))
            if name not in known and not excludes.fullmatch(name)
        ]

    def answer(self, answers: Answers) -> None:
        """Take plugins that are not known for those that the operator says.

        Raises:
            UnansweredError: Some are not answered; all of them are told.
            ConfigError: An answer is nothing that is known.
        """
        problems = list(answers.unused((*self.unknown, *self.active), "plugin.includes"))
        questions = []
        for name in self.unknown:
            said = answers.of(name)
            if not said:
                questions.append(self._question(name))
            elif said in _REPLACEABLE and said not in self.active:
                self.active.append(said)
            elif said not in {DROP, *self.active}:
                known = f"{DROP}, or one of {', '.join(_REPLACEABLE)}"
                problems.append(Problem(name, f"`{said}` is no plugin that Nacre has", known))
        self.dropped = [name for name in self.unknown if answers.of(name) == DROP]
        if problems:
            raise ConfigError(problems)
        if questions:
            raise UnansweredError(questions)

    def _question(self, name: str) -> Question:
        found = self._conf.winner("plugin.includes")
        near = difflib.get_close_matches(name, _REPLACEABLE, n=1, cutoff=0.75)
        kind = next((what for begin, what in _PLACES.items() if name.startswith(begin)), "works")
        what, why = (
            (near[0], f"its name is like {near[0]}")
            if near
            else (DROP, "nothing here is like it: what it does is not done")
        )
        file, line = (found.file, found.line) if found is not None else ("nutch-default.xml", 0)
        return Question(name, "plugin.includes", kind, what, why, file, line)

    def __contains__(self, name: str) -> bool:
        """The plugin is on."""
        return name in self.active

    @property
    def of_the_cycle(self) -> list[str]:
        """The plugins that score and index: no part of a crawl."""
        return [name for name in self.active if name in _OF_THE_CYCLE and name != DEPTH]

    @property
    def foreign(self) -> list[str]:
        """The plugins that fetch or read what Nacre does not."""
        return [name for name in self.active if name in _FOREIGN]


def _alternatives(expression: str) -> list[str]:
    """The names that an expression such as `a-(b|c)|d` writes out; nothing of what is more."""
    waiting = [expression.replace("(?:", "(")]
    found: list[str] = []
    for _ in range(_MANY):
        if not waiting:
            break
        text = waiting.pop()
        group = _GROUP.search(text)
        if group is not None:
            before, after = text[: group.start()], text[group.end() :]
            inner = "|".join(f"{group[1]}{one}{group[3]}" for one in group[2].split("|"))
            waiting.append(before + inner + after)
            continue
        found += (name.strip() for name in text.split("|"))
    return list(dict.fromkeys(name for name in found if _NAME.match(name)))


def _pattern(conf: Conf, name: str) -> re.Pattern[str]:
    try:
        return re.compile(conf.value(name))
    except re.error as error:
        found = conf.winner(name)
        message = f"{name} is no regular expression: {error}"
        where = (found.file, found.line) if found else ("", 0)
        raise ConfigError([Problem("", message, file=where[0], line=where[1])]) from None
