"""Which plugins of Nutch a configuration switches on, and what Nacre has for them."""

import re

from nacre.errors import ConfigError, Problem
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


class Plugins:
    """The plugins that are on.

    Raises:
        ConfigError: `plugin.includes` or `plugin.excludes` is no expression.
    """

    def __init__(self, conf: Conf) -> None:
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


def _pattern(conf: Conf, name: str) -> re.Pattern[str]:
    try:
        return re.compile(conf.value(name))
    except re.error as error:
        found = conf.winner(name)
        message = f"{name} is no regular expression: {error}"
        where = (found.file, found.line) if found else ("", 0)
        raise ConfigError([Problem("", message, file=where[0], line=where[1])]) from None
