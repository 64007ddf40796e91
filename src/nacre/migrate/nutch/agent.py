"""Who crawls: the properties of Nutch that make the User-Agent, the robots token, the headers."""

import re

from nacre.migrate.draft import Draft
from nacre.migrate.nutch.conf import Conf
from nacre.migrate.nutch.fate import Fates, defaulted, mapped, to_check

_PARTS = ("http.agent.description", "http.agent.url", "http.agent.email")
_HEADERS = {
    "http.accept": "Accept",
    "http.accept.language": "Accept-Language",
    "http.accept.charset": "Accept-Charset",
}
_PROXY = ("http.proxy.host", "http.proxy.port", "http.proxy.type")
_PROXY_LOGIN = ("http.proxy.username", "http.proxy.password", "http.proxy.realm")
_TOKEN = re.compile(r"[A-Za-z_-]+")


def map_agent(conf: Conf, draft: Draft) -> Fates:
    """The fates of these properties; what they become goes to the draft."""
    return {
        **_user_agent(conf, draft),
        **_robots_agents(conf, draft),
        **_headers(conf, draft),
        **_proxy(conf, draft),
    }


def _user_agent(conf: Conf, draft: Draft) -> Fates:
    fates: Fates = {}
    contact = conf.value("http.agent.url") or conf.value("http.agent.email")
    if contact:
        draft.put("fetch.contact", contact, "http.agent.url or http.agent.email")
    for name in _PARTS:
        used = bool(conf.value(name))
        target = "fetch.contact" if name != _PARTS[0] else "fetch.user_agent"
        fates[name] = mapped(target) if used else defaulted("empty", target)
    agent = conf.value("http.agent.name")
    if not agent:
        fates["http.agent.name"] = to_check(
            "empty: say who crawls with fetch.contact, without which no public site is crawled",
            "fetch.contact",
        )
        fates["http.agent.version"] = defaulted("part of a name that is not given")
        return fates
    version = conf.value("http.agent.version")
    about = "; ".join(value for name in _PARTS if (value := conf.value(name)))
    text = agent + (f"/{version}" if version else "") + (f" ({about})" if about else "")
    draft.put("fetch.user_agent", text.replace("{", "(").replace("}", ")"), "http.agent.*")
    fates["http.agent.name"] = mapped("fetch.user_agent, robots.agent")
    fates["http.agent.version"] = mapped("fetch.user_agent")
    return fates


def _robots_agents(conf: Conf, draft: Draft) -> Fates:
    names = [conf.value("http.agent.name"), *conf.value("http.robots.agents").split(",")]
    found = (_TOKEN.match(name.strip()) for name in names)
    tokens = list(dict.fromkeys(match[0].lower() for match in found if match))
    if tokens:
        draft.put("robots.agent", ", ".join(tokens), "http.agent.name and http.robots.agents")
    given = bool(conf.value("http.robots.agents"))
    target = "robots.agent"
    return {"http.robots.agents": mapped(target) if given else defaulted("empty", target)}


def _headers(conf: Conf, draft: Draft) -> Fates:
    target = "fetch.accept"
    if all(conf.is_stock(name) for name in _HEADERS):
        return {name: defaulted("its stock value", target) for name in _HEADERS}
    lines = [f"{header}: {conf.value(name)}" for name, header in _HEADERS.items()]
    draft.put(target, [line for line in lines if not line.endswith(": ")], "http.accept*")
    return dict.fromkeys(_HEADERS, mapped(target))


def _proxy(conf: Conf, draft: Draft) -> Fates:
    host, port = conf.value("http.proxy.host"), conf.value("http.proxy.port")
    target = "fetch.proxy"
    if not host:
        return dict.fromkeys((*_PROXY, *_PROXY_LOGIN), defaulted("no proxy", target))
    scheme = "socks5" if conf.value("http.proxy.type").upper() == "SOCKS" else "http"
    draft.put(target, f"{scheme}://{host}" + (f":{port}" if port else ""), "http.proxy.*")
    fates: Fates = dict.fromkeys(_PROXY, mapped(target))
    for name in _PROXY_LOGIN:
        secret = to_check("not copied: write name and password into fetch.proxy yourself", target)
        fates[name] = secret if conf.value(name) else defaulted("empty", target)
    return fates
