"""Which plugins of Nutch a configuration switches on, and what Nacre has for them."""

import difflib
import re

from nacre.errors import ConfigError, Problem
from nacre.migrate.answers import DROP, Answers, Question
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

_ALL = (*FILTERS, *NORMALIZERS, EXEMPT, *_COVERED, *_OF_THE_CYCLE, *_FOREIGN)
_NOT_DONE = "nothing here is like it: what it does is not done"
_PLACES = {
    "urlfilter": ("filters URLs", DROP, "more URLs are kept than with it"),
    "urlnormalizer": ("normalizes URLs", DROP, "URLs are not rewritten by it"),
    "protocol": ("fetches", "protocol-http", "Nacre fetches HTTP and HTTPS itself"),
    "parse": ("finds links", "parse-html", "Nacre takes the links of documents itself"),
}
"""What plugins do whose names begin so; what they are taken for, and why."""

_NO_PART = ("index", "scoring", "exchange", "publish", "language", "query", "lib", "summary",
            "clustering", "ontology", "analysis", "response")  # fmt: skip
"""Beginnings of plugins that are no part of a crawl, whoever has made them."""

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*\Z")
_MANY = 1000
_DEEPEST = 50
_LONGEST = 20_000


class Plugins:
    """The plugins that are on.

    Attributes:
        active: Those that are known, by name.
        unknown: Those of somebody else that may filter, fetch or read.
        dropped: Of these, those that the operator leaves out.
        taken: Of these, those that are read as a known one, and which.

    Raises:
        ConfigError: `plugin.includes` or `plugin.excludes` is no expression.
    """

    def __init__(self, conf: Conf) -> None:
        self._conf = conf
        self.dropped: list[str] = []
        self.taken: list[tuple[str, str]] = []
        includes = _pattern(conf, "plugin.includes")
        excludes = _pattern(conf, "plugin.excludes")
        known = _ALL
        self.active = [
            name for name in known if includes.fullmatch(name) and not excludes.fullmatch(name)
        ]
        self.unknown = [
            name
            for name in _alternatives(conf.value("plugin.includes"))
            if name not in known and not excludes.fullmatch(name)
        ]
        self._of_others = [name for name in self.unknown if name.startswith(_NO_PART)]
        self.unknown = [name for name in self.unknown if name not in self._of_others]

    def answer(self, answers: Answers) -> tuple[list[Problem], list[Question]]:
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
                problems.append(Problem(name, f"`{said}` is no plugin that is known here", hint))
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
        message = f"{name} is no regular expression: {error}"
        where = (found.file, found.line) if found else ("", 0)
        raise ConfigError([Problem("", message, file=where[0], line=where[1])]) from None
