"""Beans of Heritrix that take more than a table: writers, proxies, policies, credentials."""

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from nacre.migrate.draft import Noted
from nacre.migrate.fate import defaulted, mapped, missing, to_check
from nacre.migrate.heritrix.agent import map_metadata
from nacre.migrate.heritrix.beans import Bean, Ref, Setting
from nacre.migrate.heritrix.chains import SCRIPTS
from nacre.migrate.heritrix.order_parts import map_headers, map_robots
from nacre.migrate.heritrix.order_waits import map_again, map_waits
from nacre.migrate.heritrix.scope import RuleWriter, is_open
from nacre.migrate.heritrix.seeds import map_seeds
from nacre.migrate.heritrix.table_crawl import POLICIES
from nacre.migrate.heritrix.work import Work, decide_all, decide_inside
from nacre.uri.canonical import HERITRIX, RULES

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


def map_http(work: Work, bean: Bean) -> None:
    """What FetchHTTP has beside plain values: proxies, headers, the rule for bodies."""
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
            body.fate = defaulted("every body is fetched")
            decide_inside(body.value, body.fate)
        else:
            written = RuleWriter(work, "fetch.midfetch").rules(rules)
            work.put(body, "fetch.midfetch", written)


def map_html(work: Work, bean: Bean) -> None:
    """Scripts in pages and files of scripts are one switch: it is on where either is searched."""
    setting = bean.settings.get("extractJavascript")
    if setting is None or bean.is_true("extractJavascript", default=True):
        return
    others = work.beans.of_kind(*SCRIPTS)
    if any(other.active for other in others):
        setting.fate = to_check(
            "files of scripts are searched, and scripts in pages with them: it is one setting",
            "extract.extract_javascript",
        )


def _proxy(work: Work, bean: Bean, scheme: str, names: tuple[str, ...]) -> None:
    host, port, *login = (bean.settings.get(name) for name in names)
    if host is None or not host.text:
        idle = (bean.settings[name] for name in names if name in bean.settings)
        decide_all(idle, defaulted("no proxy", "fetch.proxy"))
        return
    number = port.text if port is not None and port.text not in {"", "0", "-1"} else ""
    work.put(host, "fetch.proxy", f"{scheme}://{host.text}" + (f":{number}" if number else ""))
    if port is not None:
        port.fate = mapped("fetch.proxy")
    for secret in login:
        if secret is not None:
            secret.fate = (
                to_check("not copied: write name and password into fetch.proxy", "fetch.proxy")
                if secret.text
                else defaulted("empty", "fetch.proxy")
            )


def map_writer(work: Work, bean: Bean) -> None:
    """Directories and kinds of records of a writer of WARC or ARC files."""
    paths = bean.settings.get("storePaths") or bean.settings.get("path")
    above = bean.settings.get("directory")
    if paths is not None or above is not None:
        _map_directories(work, above, paths)
    chain = bean.settings.get("chain")
    if chain is not None:
        _map_records(work, chain)


def _map_directories(work: Work, above: Setting | None, paths: Setting | None) -> None:
    base = above.text if above is not None else "${launchId}"
    listed = work.beans.listed(paths.value) if paths is not None else ["warcs"]
    names = [str(name).strip() for name in listed if isinstance(name, str)] or ["warcs"]
    said = [setting for setting in (above, paths) if setting is not None]
    if any(_WINDOWS.search(place) for place in (base, *names)):
        fate = to_check("a path of Windows: say where the files go", "archive.directories")
        work.draft.settings.pop("archive.directories", None)
    else:
        fate = mapped("archive.directories", "relative to the directory of a run")
        places = [_in_run(PurePosixPath(base.replace("\\", "/")) / name) for name in names]
        if not work.claim(said[0], "archive.directories", places):
            decide_all(said, said[0].fate or fate)
            return
        work.draft.put("archive.directories", places, ", ".join(one.place for one in said))
    decide_all(said, fate)


def _map_records(work: Work, chain: Setting) -> None:
    builders = work.beans.beans_in(chain)
    lost = sorted(_RECORDS - {builder.kind for builder in builders})
    extra = [one.kind for one in builders if not one.package.startswith("org.archive.")]
    wrong = ", ".join((*lost, *extra))
    chain.fate = (
        to_check(f"every capture has request, response and metadata; see {wrong}")
        if wrong
        else defaulted("these records are written")
    )
    decide_inside(chain.value, chain.fate)


def _in_run(path: PurePosixPath) -> str:
    """Heritrix's launch directory is the directory of a run, which paths are relative to."""
    parts = path.parts[1:] if path.parts[:1] == ("${launchId}",) else path.parts
    return str(PurePosixPath(*(part for part in parts if part != ".."))) or "archive"


def map_policy(work: Work, bean: Bean) -> None:
    """A policy for queues, precedence or cost; its parameters are in the table."""
    path, name = POLICIES[bean.kind]
    if bean.owner is not None and bean.owner.kind == "entry":
        return  # of a sheet, which says it itself
    if _only_in_sheets(work, bean):
        bean.fate = mapped("sheets")
        decide_all(bean.settings.values(), bean.fate)
        return
    if path == "frontier.cost":
        work.draft.put(path, name, bean.place)
        bean.fate = mapped(path)
        return
    work.draft.put(f"{path}.policy", name, bean.place)
    bean.fate = mapped(f"{path}.policy")


def _only_in_sheets(work: Work, bean: Bean) -> bool:
    """Sheets refer to it, and no other property does."""
    settings = [one for one in work.beans.items if isinstance(one, Setting)]
    named = {one.kind == "entry" for one in settings if one.value == Ref(bean.name)}
    return bool(bean.name) and named == {True}


def map_canonical(work: Work, bean: Bean) -> None:
    """The list of rules that decide when two URLs count as the same."""
    setting = bean.settings.get("rules")
    bean.fate = mapped("uri.canonical")
    if setting is None:
        work.draft.put("uri.canonical", "heritrix", f"{bean.place} (its stock list)")
        return
    found: list[dict[str, str]] = []
    for rule in work.beans.beans_in(setting):
        known = rule.kind if rule.kind in RULES else rule.kind.removesuffix("Rule")
        if known not in RULES:
            rule.fate = missing("no such rule")
            decide_all(rule.settings.values(), rule.fate)
        elif not rule.is_true("enabled", default=True):
            rule.fate = defaulted("switched off")
            decide_all(rule.settings.values(), rule.fate)
        else:
            texts: dict[str, str] = {
                name: rule.text(name) for name in ("regex", "format") if name in rule.settings
            }
            found.append({"rule": known} | texts)
            rule.fate = mapped("uri.canonical")
            decide_all(rule.settings.values(), rule.fate)
    stock = [
        {"rule": next(n for n, kind in RULES.items() if type(one) is kind)} for one in HERITRIX
    ]
    work.put(setting, "uri.canonical", "heritrix" if found == stock else found)


def map_credentials(work: Work, bean: Bean) -> None:
    """Logins are named, never copied."""
    setting = bean.settings.get("credentials")
    if setting is None or not work.beans.beans_in(setting):
        bean.fate = defaulted("empty", "fetch.credentials")
        decide_all(bean.settings.values(), bean.fate)
        return
    bean.fate = setting.fate = to_check(_LOGIN, "fetch.credentials")
    found: list[Noted] = []
    for one in work.beans.beans_in(setting):
        known = one.kind in {"HttpAuthenticationCredential", "Rfc2617Credential"}
        said = _credential(one) if known else None
        if said is not None:
            found.append(said)
            one.fate = mapped("fetch.credentials", "its password is read from the environment")
        else:
            one.fate = bean.fate if known else missing("no forms are filled in")
        decide_all(one.settings.values(), one.fate)
    if found:
        work.draft.put("fetch.credentials", found, setting.place)
        if len(found) == len(work.beans.beans_in(setting)):
            bean.fate = setting.fate = mapped("fetch.credentials")


def _credential(bean: Bean) -> Noted | None:
    """A login whose password is in the environment; None for one that stands in the file."""
    secret = _OF_ENVIRONMENT.fullmatch(bean.text("password"))
    place = _DOMAIN.fullmatch(bean.text("domain") or bean.text("credentialDomain"))
    name = bean.text("login")
    if secret is None or place is None or not name or "$" in name:
        return None
    host, port = place[1], place[2] or ""
    origin = f"https://{host}" if port == ":443" else f"http://{host}{port}"
    said = {"origin": origin, "realm": bean.text("realm"), "username": name}
    plain = {key: value for key, value in said.items() if value}
    return Noted({**plain, "password": {"env": secret[1]}}, {"origin": bean.place})


SPECIAL: dict[str, Callable[[Work, Bean], None]] = {
    "CrawlMetadata": map_metadata,
    "TextSeedModule": map_seeds,
    **dict.fromkeys(("ExtractorHTML", "JerichoExtractorHTML", "AggressiveExtractorHTML"), map_html),
    "FetchHTTP": map_http,
    "FetchHTTP2": map_http,
    "WARCWriterChainProcessor": map_writer,
    "WARCWriterProcessor": map_writer,
    "ARCWriterProcessor": map_writer,
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
