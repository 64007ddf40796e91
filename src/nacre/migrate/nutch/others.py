"""Properties of Nutch that are no setting: what Nacre does anyway, and what it does not do."""

import difflib

from nacre.migrate.nutch.conf import Conf, Property
from nacre.migrate.nutch.defaults import DEFAULTS
from nacre.migrate.nutch.fate import Fate, defaulted, missing, to_check

_ALWAYS = {
    "store.ip.address": "a WARC record says it",
    "store.http.request": "the WARC holds it",
    "store.http.headers": "the WARC holds them",
    "store.protocol.versions": "the WARC holds it",
    "http.store.responsetime": "the WARC and crawl.log say it",
    "http.partial.truncated": "what came is kept, and marked as cut short",
    "http.useHttp11": "HTTP/1.1 is what Nacre speaks",
    "http.redirect.max": "redirects are followed as links of their own",
    "http.redirect.max.exceeded.skip": "redirects are followed as links of their own",
    "fetcher.store.robotstxt": "robots.txt is archived",
    "fetcher.parse": "links are taken while the page is at hand",
    "fetcher.queue.depth.multiplier": "queues lie on disk",
    "fetcher.threads.start.delay": "fetches need no threads",
    "fetcher.threads.timeout.divisor": "fetches need no threads",
    "fetcher.maxNum.threads": "fetches need no threads",
    "fetcher.signature": "every capture has its digests",
    "db.preserve.backup": "the store is checkpointed",
    "db.injector.overwrite": "seeds of a new run are fetched again",
    "db.injector.update": "seeds of a new run are fetched again",
    "mime.type.magic": "what a document is, its bytes have a say in",
    "plugin.folders": "parts of Nacre come by entry point",
    "plugin.auto-activation": "parts of Nacre come by entry point",
    "http.log.exceptions.suppress.stack": "failures of the web are statuses",
}
_CHECK = {
    "http.robot.rules.allowlist": "write a sheet with robots.policy: ignore for these hosts",
    "http.filter.ipaddress.include": "private networks are refused already; see network.allow",
    "http.filter.ipaddress.exclude": "private networks are refused already; see network.allow",
    "http.proxy.exception.list": "write a sheet with an empty fetch.proxy for these hosts",
    "http.auth.file": "write the logins into fetch.credentials",
    "http.agent.host.cookie.file": "cookies are loaded from cookies.load_file, for all hosts",
    "http.agent.host": "the host of the crawler is found by itself",
    "fetcher.min.crawl.delay": "politeness.delay is the shortest wait",
    "fetcher.server.min.delay": "politeness.delay holds with several fetches of a queue too",
    "fetcher.queue.mode": "queues are by host; politeness.by_address joins those of one address",
    "fetcher.follow.outlinks.depth": "all links are followed; limit them in scope",
    "fetcher.follow.outlinks.ignore.external": "see db.ignore.external.links",
    "parse.filter.urls": "the filters judge every link",
    "parse.normalize.urls": "normalizers work on links; bind them with `scopes: [inject]`",
    "parser.html.outlinks.ignore_tags": "links of these elements are taken; see extract",
    "generate.max.count": "see frontier.queue_total_budget and quotas",
    "db.ignore.internal.links": "links within a host are kept",
    "urlnormalizer.order": "see uri.normalize",
}
_MISSING = {
    "http.agent.rotate": "one crawl has one User-Agent, so that sites know who comes",
    "http.agent.rotate.file": "one crawl has one User-Agent, so that sites know who comes",
    "http.useHttp2": "HTTP/1.1 is what Nacre speaks",
    "fetcher.store.content": "a crawl without its captures is none",
}
_GROUPS = (
    (("index", "moreIndexing", "anchorIndexing", "subcollection", "exchanges.", "urlmeta."),
     "a crawl makes no search index"),
    (("linkdb.", "link.", "scoring.", "db.score.", "cosine."), "pages are not scored"),
    (("db.fetch.", "adaptive"), "when pages are visited again is planned by `nacre recrawl`"),
    (("db.", "crawldb.", "crawl.", "generate.", "partition.", "segment."),
     "of the batch cycle: a crawl keeps its frontier by itself"),
    (("hostdb.",), "hosts are known to the store"),
    (("sitemap.",), "sitemaps of robots.txt are read as they come"),
    (("selenium.", "webdriver.", "interactiveselenium.", "htmlunit.", "page.load", "take.screen",
      "screenshot."), "pages are fetched as they are, not run in a browser"),
    (("ftp.", "file."), "only HTTP and HTTPS are fetched"),
    (("lang.", "tika.", "parse", "parser.", "htmlparsefilter.", "headings", "metatags.",
      "encodingdetector.", "mimetype."), "links are taken from documents; their text is not kept"),
    (("publisher.", "rabbitmq.", "fetcher.publisher"), "events are not sent to a message queue"),
    (("io.", "mapreduce.", "nutch.jexl"), "of Hadoop and Nutch themselves"),
    (("http.robots.",), "robots.txt is read by RFC 9309"),
    (("http.", "fetcher."), "Nacre has its own way of fetching"),
)  # fmt: skip


def other_fate(conf: Conf, prop: Property) -> Fate:
    """The fate of a property that nothing else has taken."""
    name = prop.name
    if name in _ALWAYS:
        return defaulted(_ALWAYS[name])
    group = next((note for starts, note in _GROUPS if name.startswith(starts)), "")
    if conf.is_stock(name):
        return defaulted(group or _CHECK.get(name) or "its stock value")
    if name in _CHECK:
        return to_check(_CHECK[name])
    if name in DEFAULTS:
        return missing(_MISSING.get(name) or group or "nothing here is like it")
    return to_check(_unknown(name))


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, DEFAULTS, n=1, cutoff=0.8)
    guess = f"perhaps {near[0]}" if near else "perhaps of a plugin of yours"
    return f"not a property of the stock configuration: {guess}"
