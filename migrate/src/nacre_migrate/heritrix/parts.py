"""Beans of Heritrix that take more than a table: writers, proxies, policies, credentials.

The frontier and the wait evaluators for adaptive revisiting of Heritrix 1 become a schedule.
"""

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from nacre.uri.canonical import HERITRIX, RULES
from nacre_migrate.draft import CommentedMapping
from nacre_migrate.heritrix.agent import map_headers, map_metadata, map_robots
from nacre_migrate.heritrix.beans import Bean, Ref, Setting, decide_all
from nacre_migrate.heritrix.chains import SCRIPTS
from nacre_migrate.heritrix.mappings import POLICIES
from nacre_migrate.heritrix.scope import RuleWriter, is_open
from nacre_migrate.heritrix.seeds import map_seeds
from nacre_migrate.heritrix.work import Migration
from nacre_migrate.report import defaulted, mapped, missing, to_check

_SCHEDULE = "recrawl.schedule"
_WAITS = f"{_SCHEDULE}.heritrix."
_FIRST = ("first", "first_text", "first_image")
_COMMON = {
    "maxWaitIntervalSeconds": "longest",
    "minWaitIntervalSeconds": "shortest",
    "unchangedFactor": "grow",
    "changedFactor": "shrink",
    "defaultWaitIntervalSeconds": "unknown",
    "defaultWaitInterval": "unknown",
}
_CONTENT = ("contentRegex", "contentRegularExpression", "contentRegexpr")


def map_again(work: Migration, bean: Bean) -> None:
    """AdaptiveRevisitFrontier: each page has its own interval."""
    work.draft.put(f"{_SCHEDULE}.kind", "heritrix", f"{bean.kind}, {bean.file}:{bean.line}")
    bean.decide(
        mapped(_SCHEDULE, "`nacre recrawl JOB --continuous` visits pages when they are due")
    )


def map_waits(work: Migration, bean: Bean) -> None:
    """A wait evaluator, for all media types or for those that match an expression."""
    bean.decide(mapped(f"{_SCHEDULE}.heritrix"))
    content = next((bean.settings[name] for name in _CONTENT if name in bean.settings), None)
    fields = _FIRST if content is None else _of_content(content.text)
    if content is not None:
        content.decide(
            mapped(_WAITS + fields[0])
            if fields
            else to_check(
                "only text and images have first intervals of their own", _WAITS + "first"
            )
        )
    for name, setting in bean.settings.items():
        if name == "initialWaitIntervalSeconds":
            _first(work, setting, fields, general=content is None)
        elif name in _COMMON:
            _common(work, setting, _COMMON[name])
        elif setting.conversion is None:
            setting.decide(defaulted("overdue pages come first, in order of their time"))


def _of_content(expression: str) -> tuple[str, ...]:
    rules = {"text": ("first_text",), "image": ("first_image",)}
    return rules.get(expression.lstrip("^(").partition("/")[0], ())


def _first(work: Migration, setting: Setting, fields: tuple[str, ...], *, general: bool) -> None:
    value = _number(setting)
    for field in fields if value is not None else ():
        # What an evaluator of one media type said goes before what holds for all.
        if not (general and field != "first" and _WAITS + field in work.draft.settings):
            work.put(setting, _WAITS + field, value)
    if setting.conversion is None:
        setting.decide(to_check("of media types without intervals of their own", _WAITS + "first"))


def _common(work: Migration, setting: Setting, field: str) -> None:
    value, path = _number(setting), _WAITS + field
    if value is None:
        return
    if field == "shrink":
        value = 1.0 / value
    if work.draft.value(path, value) != value:
        setting.decide(to_check("evaluators differ in it; here it is one for all pages", path))
    else:
        work.put(setting, path, value)


def _number(setting: Setting) -> float | None:
    try:
        value = float(setting.text)
    except ValueError:
        value = 0.0
    if value > 0.0:
        return value
    setting.decide(to_check("not a number over 0"))
    return None


_RECORDS = frozenset(
    f"{name}RecordBuilder"
    for name in ("DnsResponse", "HttpResponse", "Revisit", "HttpRequest", "Metadata")
)
_PROXY = ("httpProxyHost", "httpProxyPort", "httpProxyUser", "httpProxyPassword")
_SOCKS = ("socksProxyHost", "socksProxyPort", "socksProxyUser", "socksProxyPassword")
_WINDOWS = re.compile(r"\A[A-Za-z]:|\\")
_OF_ENVIRONMENT = re.compile(r"\$\{env:([A-Za-z_]\w*)\}")
_DOMAIN = re.compile(r"([\w.-]+)(:[0-9]+)?")
_LOGIN = "not copied: write it into fetch.credentials (`password: {env: NAME}`)"


def map_http(work: Migration, bean: Bean) -> None:
    """Map the properties of FetchHTTP that are no plain values: proxies, headers, body rules."""
    _proxy(work, bean, "http", _PROXY)
    _proxy(work, bean, "socks5", _SOCKS)
    headers = bean.settings.get("acceptHeaders")
    if headers is not None:
        lines = [line.strip() for line in work.beans.listed(headers.value) if isinstance(line, str)]
        work.put(headers, "fetch.accept", [line for line in lines if line])
    body = bean.settings.get("shouldFetchBodyRule")
    if body is not None:
        rules = work.beans.beans_in(body)
        if all(is_open(work, rule) for rule in rules):
            body.decide_with_parts(defaulted("every body is fetched"))
        else:
            written = RuleWriter(work, "fetch.midfetch").rules(rules)
            work.put(body, "fetch.midfetch", written)


def map_html(work: Migration, bean: Bean) -> None:
    """Scripts in pages and files of scripts are one switch: it is on where either is searched."""
    setting = bean.settings.get("extractJavascript")
    if setting is None or bean.is_true("extractJavascript", default=True):
        return
    others = work.beans.of_kind(*SCRIPTS)
    if any(extractor.active for extractor in others):
        setting.decide(
            to_check(
                "files of scripts are searched, and scripts in pages with them: it is one setting",
                "extract.extract_javascript",
            )
        )


def _proxy(work: Migration, bean: Bean, scheme: str, names: tuple[str, ...]) -> None:
    host, port, *login = (bean.settings.get(name) for name in names)
    if host is None or not host.text:
        idle = (bean.settings[name] for name in names if name in bean.settings)
        decide_all(idle, defaulted("no proxy", "fetch.proxy"))
        return
    number = port.text if port is not None and port.text not in {"", "0", "-1"} else ""
    work.put(host, "fetch.proxy", f"{scheme}://{host.text}" + (f":{number}" if number else ""))
    if port is not None:
        port.decide(mapped("fetch.proxy"))
    for secret in login:
        if secret is not None:
            secret.decide(
                to_check("not copied: write name and password into fetch.proxy", "fetch.proxy")
                if secret.text
                else defaulted("empty", "fetch.proxy")
            )


def map_writer(work: Migration, bean: Bean) -> None:
    """Directories and kinds of records of a writer of WARC or ARC files."""
    paths = bean.settings.get("storePaths") or bean.settings.get("path")
    above = bean.settings.get("directory")
    if paths is not None or above is not None:
        _map_directories(work, above, paths)
    chain = bean.settings.get("chain")
    if chain is not None:
        _map_records(work, chain)


def _map_directories(work: Migration, above: Setting | None, paths: Setting | None) -> None:
    base = above.text if above is not None else "${launchId}"
    listed = work.beans.listed(paths.value) if paths is not None else ["warcs"]
    names = [str(name).strip() for name in listed if isinstance(name, str)] or ["warcs"]
    settings = [setting for setting in (above, paths) if setting is not None]
    if any(_WINDOWS.search(place) for place in (base, *names)):
        conversion = to_check("a path of Windows: say where the files go", "archive.directories")
        work.draft.leave_out("archive.directories")
    else:
        conversion = mapped("archive.directories", "relative to the directory of a run")
        places = [_in_run(PurePosixPath(base.replace("\\", "/")) / name) for name in names]
        if not work.claim(settings[0], "archive.directories", places):
            decide_all(settings, settings[0].conversion or conversion)
            return
        work.draft.put(
            "archive.directories",
            places,
            ", ".join(path_setting.place for path_setting in settings),
        )
    decide_all(settings, conversion)


def _map_records(work: Migration, chain: Setting) -> None:
    builders = work.beans.beans_in(chain)
    lost = sorted(_RECORDS - {builder.kind for builder in builders})
    extra = [
        extra_builder.kind
        for extra_builder in builders
        if not extra_builder.package.startswith("org.archive.")
    ]
    wrong = ", ".join((*lost, *extra))
    chain.decide_with_parts(
        to_check(f"every capture has request, response and metadata; see {wrong}")
        if wrong
        else defaulted("these records are written")
    )


def _in_run(path: PurePosixPath) -> str:
    """Heritrix's launch directory is the directory of a run, which paths are relative to."""
    parts = path.parts[1:] if path.parts[:1] == ("${launchId}",) else path.parts
    return str(PurePosixPath(*(part for part in parts if part != ".."))) or "archive"


def map_quotas(work: Migration, bean: Bean) -> None:
    """The quotas of a job count as Heritrix counts."""
    work.draft.put("quotas.count", "heritrix", bean.place)


def map_policy(work: Migration, bean: Bean) -> None:
    """A policy for queues, precedence or cost; its parameters are in the table."""
    path, name = POLICIES[bean.kind]
    if bean.owner is not None and bean.owner.kind == "entry":
        return  # of a sheet, which has it itself
    if _only_in_sheets(work, bean):
        bean.decide_with_settings(mapped("sheets"))
        return
    if path == "frontier.cost":
        work.draft.put(path, name, bean.place)
        bean.decide(mapped(path))
        return
    work.draft.put(f"{path}.policy", name, bean.place)
    bean.decide(mapped(f"{path}.policy"))


def _only_in_sheets(work: Migration, bean: Bean) -> bool:
    """Sheets refer to it, and no other property does."""
    settings = [item for item in work.beans.items if isinstance(item, Setting)]
    named = {setting.kind == "entry" for setting in settings if setting.value == Ref(bean.name)}
    return bool(bean.name) and named == {True}


def map_canonical(work: Migration, bean: Bean) -> None:
    """The list of rules that decide when two URLs count as the same."""
    setting = bean.settings.get("rules")
    bean.decide(mapped("uri.canonical"))
    if setting is None:
        work.draft.put("uri.canonical", "heritrix", f"{bean.place} (its stock list)")
        return
    rules: list[dict[str, str]] = []
    for rule in work.beans.beans_in(setting):
        rule_name = rule.kind if rule.kind in RULES else rule.kind.removesuffix("Rule")
        if rule_name not in RULES:
            rule.decide_with_settings(missing("no such rule"))
        elif not rule.is_true("enabled", default=True):
            rule.decide_with_settings(defaulted("switched off"))
        else:
            texts: dict[str, str] = {
                name: rule.text(name) for name in ("regex", "format") if name in rule.settings
            }
            rules.append({"rule": rule_name} | texts)
            rule.decide_with_settings(mapped("uri.canonical"))
    stock = [
        {"rule": next(n for n, kind in RULES.items() if type(normalizer) is kind)}
        for normalizer in HERITRIX
    ]
    work.put(setting, "uri.canonical", "heritrix" if rules == stock else rules)


def map_credentials(work: Migration, bean: Bean) -> None:
    """Logins are named, never copied."""
    setting = bean.settings.get("credentials")
    if setting is None or not work.beans.beans_in(setting):
        bean.decide_with_settings(defaulted("empty", "fetch.credentials"))
        return
    by_hand = to_check(_LOGIN, "fetch.credentials")
    bean.decide(by_hand)
    setting.decide(by_hand)
    mappings: list[CommentedMapping] = []
    for credential in work.beans.beans_in(setting):
        has_login = credential.kind in {"HttpAuthenticationCredential", "Rfc2617Credential"}
        mapping = _credential(credential) if has_login else None
        if mapping is not None:
            mappings.append(mapping)
            note = "its password is read from the environment"
            credential.decide_with_settings(mapped("fetch.credentials", note))
        else:
            credential.decide_with_settings(
                by_hand if has_login else missing("no forms are filled in")
            )
    if mappings:
        work.draft.put("fetch.credentials", mappings, setting.place)
        if len(mappings) == len(work.beans.beans_in(setting)):
            bean.decide(mapped("fetch.credentials"))
            setting.decide(mapped("fetch.credentials"))


def _credential(bean: Bean) -> CommentedMapping | None:
    """A login with a password in the environment; None for a password in the file."""
    secret = _OF_ENVIRONMENT.fullmatch(bean.text("password"))
    place = _DOMAIN.fullmatch(bean.text("domain") or bean.text("credentialDomain"))
    name = bean.text("login")
    if secret is None or place is None or not name or "$" in name:
        return None
    host, port = place[1], place[2] or ""
    origin = f"https://{host}" if port == ":443" else f"http://{host}{port}"
    fields = {"origin": origin, "realm": bean.text("realm"), "username": name}
    plain = {key: value for key, value in fields.items() if value}
    return CommentedMapping({**plain, "password": {"env": secret[1]}}, {"origin": bean.place})


_BEHAVIOURS = {"ScrollDownBehavior": ("tall", "scroll")}


def map_browser(work: Migration, bean: Bean) -> None:
    """BrowserProcessor: all pages are run, with the behaviours of its list."""
    work.draft.put("browser.use", "always", bean.place)
    bean.decide(mapped("browser.use"))
    work.advise(
        "Requests of pages in the browser obey scope, robots.txt, politeness and quotas here; in "
        "Heritrix they do not. `browser.robots: page` asks robots.txt for pages alone."
    )
    behaviours = bean.settings.get("behaviors")
    if behaviours is not None:
        kinds = [behaviour.kind for behaviour in work.beans.beans_in(behaviours)]
        names = [name for kind in dict.fromkeys(kinds) for name in _BEHAVIOURS.get(kind, ())]
        work.put(behaviours, "browser.behaviours", names)
    program = bean.settings.get("executable")
    if program is None or not program.text:
        return
    name = PurePosixPath(program.text.replace("\\", "/")).name.lower()
    if "chrom" in name and "driver" not in name:
        work.put(program, "browser.command", program.text)
    else:
        program.decide(to_check("pages are run in a Chromium without a driver", "browser.command"))


SPECIAL: dict[str, Callable[[Migration, Bean], None]] = {
    "CrawlMetadata": map_metadata,
    "TextSeedModule": map_seeds,
    **dict.fromkeys(("ExtractorHTML", "JerichoExtractorHTML", "AggressiveExtractorHTML"), map_html),
    "FetchHTTP": map_http,
    "FetchHTTP2": map_http,
    "WARCWriterChainProcessor": map_writer,
    "WARCWriterProcessor": map_writer,
    "ARCWriterProcessor": map_writer,
    "QuotaEnforcer": map_quotas,
    "BrowserProcessor": map_browser,
    "RulesCanonicalizationPolicy": map_canonical,
    "CredentialStore": map_credentials,
    "HttpHeaders": map_headers,
    "RobotsHonoringPolicy": map_robots,
    "AdaptiveRevisitFrontier": map_again,
    "WaitEvaluator": map_waits,
    "ContentBasedWaitEvaluator": map_waits,
    **dict.fromkeys(POLICIES, map_policy),
}
"""Classes that take more than a table, before the table has the rest."""
