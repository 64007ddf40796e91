"""Classes of Heritrix that fetch and extract, and what becomes of their properties."""

from nacre.migrate.heritrix.rules import (
    Kind,
    Rule,
    flag,
    kilobytes,
    lacking,
    look,
    ms,
    needless,
    not_negative,
    opposite,
    seconds,
    to,
    whole,
)

_HTTP11 = "HTTP/1.1 is what Nacre speaks"


def _tls(text: str) -> str:
    strict = {"strict": True, "normal": True, "loose": False, "open": False}
    if text.lower() not in strict:
        raise ValueError("not OPEN, LOOSE, NORMAL or STRICT")
    return "strict" if strict[text.lower()] else "record"


_DIGEST = {
    "digestContent": look("true", "every capture has its digests"),
    "digestAlgorithm": look("sha1", "payloads are digested with SHA-1, as CDX indexes expect"),
}

_HTTP: dict[str, Rule] = {
    "timeoutSeconds": to("fetch.timeout", seconds, "1200"),
    "soTimeoutMs": to("fetch.connect_timeout fetch.silence_timeout", ms, "20000"),
    "maxLengthBytes": to("fetch.max_length", not_negative, "0"),
    "maxFetchKBSec": to("fetch.max_rate", not_negative, "0"),
    "sendRange": to("fetch.send_range", flag, "false"),
    "sendReferer": to("fetch.send_referer", flag, "true"),
    "sendIfModifiedSince": to("dedup.conditional", flag, "true"),
    "sendIfNoneMatch": to("dedup.conditional", flag, "true"),
    "ignoreCookies": to("cookies.enabled", opposite, "false"),
    "sslTrustLevel": to("fetch.tls", _tls, "OPEN"),
    "httpBindAddress": to("fetch.bind_address"),
    "useHTTP11": needless(_HTTP11),
    "useHTTP2": look("true", _HTTP11),
    "useHTTP3": lacking("false", _HTTP11),
    "sendConnectionClose": needless("connections are kept open while a queue has more to fetch"),
    "defaultEncoding": needless("a document's own words and bytes say its encoding"),
    "acceptCompression": to(
        "fetch.accept_encoding", lambda text: None if flag(text) else "", "false"
    ),
    **_DIGEST,
}  # fmt: skip

_HTML: dict[str, Rule] = {
    "extractJavascript": to("extract.extract_javascript", flag, "true"),
    "extractValueAttributes": to("extract.value_attributes", flag, "true"),
    "ignoreFormActionUrls": to("extract.ignore_form_action_urls", flag, "false"),
    "extractOnlyFormGets": to("extract.only_form_gets", flag, "true"),
    "treatFramesAsEmbedLinks": to("extract.treat_frames_as_embeds", flag, "true"),
    "ignoreUnexpectedHtml": to("extract.ignore_unexpected_html", flag, "true"),
    "obeyRelNofollow": to("extract.obey_rel_nofollow", flag, "false"),
    "maxElementLength": needless("elements of any length are read"),
    "maxAttributeNameLength": needless("names of any length are read"),
    "maxAttributeValueLength": needless("values of any length are read"),
    "maxAttributeValLength": needless("values of any length are read"),
}
_SEARCHED = "what it searches is archived; no links are taken from it"
_NOTHING = Kind("", _SEARCHED, "missing")
_SCRIPT = "a script cannot run; Nacre takes plug-ins by entry point"

FETCH_KINDS: dict[str, Kind] = {
    "FetchHTTP": Kind("fetch", properties=_HTTP),
    "FetchHTTP2": Kind("fetch", properties={
        **_HTTP, "timeoutSeconds": to("fetch.silence_timeout", seconds, "20"),
    }),
    "FetchDNS": Kind("dns", properties={
        "acceptNonDnsResolves": look("false", "write such names into dns.hosts"),
        "disableJavaDnsResolves": needless("names are asked of DNS servers only"),
        "dnsOverHttpServer": lacking("", "DNS over HTTPS is not spoken; see dns.servers"),
        **_DIGEST,
    }),
    "FetchWhois": Kind("", "only HTTP, HTTPS and DNS are fetched", "missing"),
    "FetchFTP": Kind("", "only HTTP, HTTPS and DNS are fetched", "missing"),
    "FetchSFTP": Kind("", "only HTTP, HTTPS and DNS are fetched", "missing"),
    "ExtractorHTTP": Kind("extract", properties={
        "inferRootPage": lacking("false", "the first page is not guessed; make it a seed"),
        "inferPaths": lacking("", "no paths are guessed but /favicon.ico; make them seeds"),
    }),
    "ExtractorRobotsTxt": Kind("extract"),
    "ExtractorSitemap": Kind("extract", properties={
        "urlPattern": needless("sitemaps are known by what they are"),
        "enableLenientExtraction": needless("all pages that a sitemap names are judged by scope"),
    }),
    "ExtractorHTML": Kind("extract", properties=_HTML),
    "JerichoExtractorHTML": Kind("extract", properties=_HTML),
    "AggressiveExtractorHTML": Kind("extract", properties=_HTML),
    "ExtractorCSS": Kind("extract"),
    "ExtractorJS": Kind("extract"),
    "ConfigurableExtractorJS": Kind("extract", properties={
        "strict": look("false", "relative candidates are judged by likeness to a URI"),
        "maximumCandidateLength": look("-1", "uri.max_length limits all URLs"),
        "rejectRelativeMatchingRegexList": look("", "refuse such URLs in scope"),
        "forceStrictIfUrlMatchingRegexList": look("", "refuse such URLs in scope"),
        "rejectRelativeIgnoreList": look("", "refuse such URLs in scope"),
        "rejectScriptAttributeRegexList": look("", "refuse such URLs in scope"),
    }),
    "KnowledgableExtractorJS": Kind("extract"),
    "ExtractorJson": Kind("extract"),
    "ExtractorXML": Kind("extract"),
    "ExtractorPDFContent": _NOTHING,
    "ExtractorHTMLForms": Kind("", "no forms are filled in", "missing"),
    "FormLoginProcessor": Kind("", "no forms are filled in", "missing"),
    "ExtractorYoutubeDL": Kind("", "no other program is run", "missing"),
    "ExtractorYoutubeFormatStream": Kind("", "nothing here knows YouTube", "missing"),
    "ExtractorYoutubeChannelFormatStream": Kind("", "nothing here knows YouTube", "missing"),
    "BrowserProcessor": Kind("", "pages are not run in a browser", "missing"),
    "ScrollDownBehavior": Kind("", "pages are not run in a browser", "missing"),
    "ExtractLinksBehavior": Kind("", "pages are not run in a browser", "missing"),
    "PaginationBehavior": Kind("", "pages are not run in a browser", "missing"),
    "ScriptedProcessor": Kind("", _SCRIPT, "missing"),
    "Preselector": Kind("chains", properties={
        "recheckScope": to("chains.fetch.recheck-scope.enabled", flag, "false"),
        "blockAll": to("chains.fetch.preselect.block_all", flag, "false"),
        "blockByRegex": to("chains.fetch.preselect.block_by_regex"),
        "allowByRegex": to("chains.fetch.preselect.allow_by_regex"),
    }),
    "PreconditionEnforcer": Kind("robots", properties={
        "ipValidityDurationSeconds": to("dns.min_ttl", seconds, "21600"),
        "robotsValidityDurationSeconds": to("robots.ttl", seconds, "86400"),
        "calculateRobotsOnly": to("robots.calculate_only", flag, "false"),
    }),
    "QuotaEnforcer": Kind("quotas", properties={
        "forceRetire": to("quotas.force_retire", flag, "true"),
        **{
            f"{level}Max{name}": to(f"quotas.{level}.{ours}", convert, "-1")
            for level in ("server", "host", "group")
            for name, ours, convert in (
                ("FetchSuccesses", "successes", whole),
                ("SuccessKb", "success_bytes", kilobytes),
                ("FetchResponses", "responses", whole),
                ("AllKb", "bytes", kilobytes),
                ("NovelKb", "novel_bytes", kilobytes),
                ("NovelUrls", "novel_urls", whole),
            )
        },
    }),
    "HostQuotaEnforcer": Kind("", "write quotas.host into a sheet for this host", "check"),
    "SourceQuotaEnforcer": Kind("", "write quotas.source, with engine.source_tags", "check"),
    "WARCLimitEnforcer": Kind("", "write limits.warc_bytes", "check"),
    "RuntimeLimitEnforcer": Kind("limits", properties={
        "runtimeSeconds": to("limits.runtime.after", seconds),
        "expirationOperation": to(
            "limits.runtime.action",
            {"PAUSE": "pause", "TERMINATE": "terminate", "BLOCK_URIS": "block"}.__getitem__,
            "PAUSE",
        ),
    }),
}  # fmt: skip
"""What becomes of the beans of a class, by its name without package."""
