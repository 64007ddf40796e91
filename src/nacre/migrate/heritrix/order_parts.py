"""Modules of Heritrix 1 that take more than a table: its headers and its robots policy."""

import re

from nacre.migrate.fate import defaulted, mapped, to_check
from nacre.migrate.heritrix.agent import is_contact, set_agent
from nacre.migrate.heritrix.beans import Bean, Setting
from nacre.migrate.heritrix.work import Work

_URL = re.compile(r"\+?\s*(https?://[^\s)\"';,]+)")
_STOCK = re.compile(r"heritrix/[0-9]")


def map_headers(work: Work, bean: Bean) -> None:
    """`user-agent`, in which the contact is, and `from`."""
    bean.fate = mapped("fetch")
    agent = bean.settings.get("userAgent")
    if agent is not None:
        _agent(work, agent)
    sender = bean.settings.get("from")
    if sender is None:
        return
    if is_contact(sender.text) and "@" in sender.text:
        work.put(sender, "fetch.mail_from", sender.text)
    elif sender.text:
        sender.fate = to_check("no mail address", "fetch.mail_from")
    else:
        sender.fate = defaulted("empty", "fetch.mail_from")


def _agent(work: Work, setting: Setting) -> None:
    found = _URL.search(setting.text)
    if found is not None and not work.contact:
        work.draft.put("fetch.contact", found[1], setting.place)
    if _STOCK.search(setting.text) or not setting.text:
        target = "fetch.contact"
        setting.fate = (
            mapped(target, "Nacre says its own name")
            if found is not None or work.contact
            else to_check("no web page in it: say who crawls in fetch.contact", target)
        )
        return
    plain = setting.text.replace("{", "(").replace("}", ")")
    set_agent(work, setting, plain.replace(found[1], "{contact}") if found is not None else plain)
    if found is None and not work.contact:
        setting.fate = to_check("no web page in it: say who crawls in fetch.contact")


def map_robots(work: Work, bean: Bean) -> None:
    """Which robots.txt is obeyed."""
    bean.fate = mapped("robots")
    kind = bean.settings.get("type")
    name = kind.text.lower() if kind is not None else "classic"
    if kind is not None:
        _type(work, kind, name)
    if name not in {"ignore", "custom"}:
        place = kind.place if kind is not None else bean.place
        work.draft.put("extract.obey_meta_robots", value=True, reason=f"{place} (meta robots too)")
    text = bean.settings.get("customRobots")
    if text is not None and name == "custom":
        work.put(text, "robots.custom", str(text.value or "").strip())
    elif text is not None:
        text.fate = defaulted(f"the type is {name}")
    agents = bean.settings.get("userAgents")
    if agents is not None:
        _agents(work, agents, name)


def _type(work: Work, setting: Setting, name: str) -> None:
    if name == "classic":
        setting.fate = defaulted("as Nacre does", "robots.policy")
    elif name in {"ignore", "custom"}:
        work.put(setting, "robots.policy", name)
    elif name.startswith("most-favored"):
        setting.fate = to_check("groups of all these agents count together", "robots.agent")
    else:
        setting.fate = to_check("no such policy: robots.txt is obeyed", "robots.policy")


def _agents(work: Work, setting: Setting, name: str) -> None:
    tokens = [str(agent).strip() for agent in work.beans.listed(setting.value) if agent]
    if tokens and name == "most-favored-set":
        work.put(setting, "robots.agent", ", ".join(tokens))
    else:
        setting.fate = defaulted(f"the type is {name}")
