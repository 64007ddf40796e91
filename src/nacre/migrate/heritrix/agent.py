"""Who crawls: CrawlMetadata and the robots policies of Heritrix."""

import re

from nacre.migrate.fate import Fate, defaulted, mapped, missing, to_check
from nacre.migrate.heritrix.beans import Bean, Setting
from nacre.migrate.heritrix.work import Work

STOCK_AGENT = "Mozilla/5.0 (compatible; heritrix/@VERSION@ +@OPERATOR_CONTACT_URL@)"

_PRODUCT = re.compile(r"compatible;\s*([\w.-]+)|\A(?!Mozilla)([\w.-]+)")
_TEXTS = {
    "jobName": "name",
    "description": "archive.description",
    "operator": "archive.operator",
    "organization": "archive.publisher",
    "audience": "archive.audience",
    "operatorFrom": "fetch.mail_from",
}
_POLICIES = {"obey": "obey", "classic": "obey", "robotstxtonly": "obey", "ignore": "ignore"}
_NO_CONTACT = "no web page; say who crawls in fetch.contact, or migrate with --contact"


def map_metadata(work: Work, bean: Bean) -> None:
    """The properties of CrawlMetadata."""
    bean.fate = mapped("fetch, archive")
    for name, path in _TEXTS.items():
        setting = bean.settings.get(name)
        if setting is not None and setting.text:
            work.put(setting, path, " ".join(setting.text.split()))
        elif setting is not None:
            setting.fate = defaulted("empty", path)
    if (contact := bean.settings.get("operatorContactUrl")) is not None:
        _contact(work, contact)
    if (template := bean.settings.get("userAgentTemplate")) is not None:
        _agent(work, template)
    _policy(work, bean)
    for setting in bean.settings.values():
        if setting.name == "availableRobotsPolicies" and setting.fate is None:
            setting.fate = defaulted("the one that is used counts")


def _contact(work: Work, setting: Setting) -> None:
    text = setting.text
    if work.contact:
        setting.fate = defaulted("--contact takes its place", "fetch.contact")
    elif is_contact(text):
        work.put(setting, "fetch.contact", text)
    else:
        setting.fate = to_check(_NO_CONTACT, "fetch.contact")


def is_contact(text: str) -> bool:
    """Whether it is a web page or a mail address."""
    return (
        text.startswith(("http://", "https://")) or re.fullmatch(r"\S+@\S+\.\S+", text) is not None
    )


def _agent(work: Work, setting: Setting) -> None:
    if setting.text == STOCK_AGENT or not setting.text:
        setting.fate = defaulted("Nacre says its own name", "fetch.user_agent")
        return
    text = setting.text.replace("{", "(").replace("}", ")")
    text = text.replace("@VERSION@", "{version}").replace("@OPERATOR_CONTACT_URL@", "{contact}")
    for name, word in (("@JOB_NAME@", "jobName"), ("@OPERATOR_NAME@", "operator")):
        text = text.replace(name, setting.bean.text(word))
    set_agent(work, setting, text)


def set_agent(work: Work, setting: Setting, text: str) -> None:
    """A User-Agent, and the token that robots.txt is asked for."""
    work.put(setting, "fetch.user_agent", text)
    product = _PRODUCT.search(text)
    token = next((group for group in product.groups() if group), "") if product else ""
    if token:
        work.draft.put("robots.agent", token.lower(), f"the product in {setting.place}")
        setting.fate = mapped("fetch.user_agent, robots.agent")


def _policy(work: Work, bean: Bean) -> None:
    setting = bean.settings.get("robotsPolicyName")
    name = setting.text.lower() if setting is not None else "obey"
    if name in {"obey", "classic"}:
        where = setting.place if setting is not None else f"{bean.place}: robotsPolicyName obey"
        work.draft.put(
            "extract.obey_meta_robots", value=True, reason=f"{where} (obeys meta robots too)"
        )
    if setting is None:
        return
    if name in _POLICIES:
        ours = _POLICIES[name]
        if ours == "obey":
            setting.fate = defaulted("as Nacre does", "robots.policy")
        else:
            work.put(setting, "robots.policy", ours)
        return
    setting.fate = _named_policy(work, bean, setting)


def _named_policy(work: Work, bean: Bean, setting: Setting) -> Fate:
    """A policy that is a bean of its own."""
    policies = bean.settings.get("availableRobotsPolicies")
    known = work.beans.resolved(policies.value) if policies is not None else None
    value = known.get(setting.text) if isinstance(known, dict) else None
    found = work.beans.resolved(value) or work.beans.bean(setting.text)
    if not isinstance(found, Bean):
        return to_check("no such policy: robots.txt is obeyed", "robots.policy")
    return use_policy(work, setting, found)


def use_policy(work: Work, setting: Setting, policy: Bean) -> Fate:
    """A robots policy that is a bean."""
    if policy.kind == "CustomRobotsPolicy":
        work.draft.put("robots.policy", "custom", setting.place)
        work.draft.put("robots.custom", policy.text("customRobots"), policy.place)
        policy.fate = mapped("robots.custom")
        for one in policy.settings.values():
            one.fate = policy.fate
        return mapped("robots.policy")
    if policy.kind in {"MostFavoredRobotsPolicy", "FirstNamedRobotsPolicy"}:
        agents = work.beans.listed(
            getattr(policy.settings.get("candidateUserAgents"), "value", None)
        )
        tokens = [agent.strip() for agent in agents if isinstance(agent, str) and agent.strip()]
        if tokens:
            work.draft.put("robots.agent", ", ".join(tokens), policy.place)
        policy.fate = to_check("groups of all these agents count together", "robots.agent")
        for one in policy.settings.values():
            one.fate = policy.fate
        return policy.fate
    policy.fate = missing(f"Nacre has no robots policy {policy.kind}: robots.txt is obeyed")
    return policy.fate
