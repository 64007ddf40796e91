"""The identity of the crawler: CrawlMetadata, headers of Heritrix 1, robots policies of both."""

import re
from typing import Any

from nacre_migrate.heritrix.beans import Bean, Setting
from nacre_migrate.heritrix.work import Migration
from nacre_migrate.report import Conversion, defaulted, mapped, missing, to_check

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
_TYPES = {
    "classic": "obey",
    "ignore": "ignore",
    "custom": "custom",
    "most-favored": "obey",
    "most-favored-set": "obey",
}
"""Types of RobotsHonoringPolicy of Heritrix 1."""

_OBEY_META = frozenset(("obey", "classic", "most-favored", "most-favored-set"))
"""Policies that obey robots meta tags, too."""

_FAVORED = frozenset(("MostFavoredRobotsPolicy", "FirstNamedRobotsPolicy"))
_TOGETHER = "groups of all these agents count together"
_NO_CONTACT = "no web page; say who crawls in fetch.contact, or migrate with --contact"


def map_metadata(work: Migration, bean: Bean) -> None:
    """The properties of CrawlMetadata."""
    bean.decide(mapped("fetch, archive"))
    for name, path in _TEXTS.items():
        setting = bean.settings.get(name)
        if setting is not None and setting.text:
            work.put(setting, path, " ".join(setting.text.split()))
        elif setting is not None:
            setting.decide(defaulted("empty", path))
    if (contact := bean.settings.get("operatorContactUrl")) is not None:
        _contact(work, contact)
    if (template := bean.settings.get("userAgentTemplate")) is not None:
        _agent(work, template)
    _policy(work, bean)
    for setting in bean.settings.values():
        if setting.name == "availableRobotsPolicies" and setting.conversion is None:
            setting.decide(defaulted("the one that is used counts"))


def _contact(work: Migration, setting: Setting) -> None:
    text = setting.text
    if work.contact:
        setting.decide(defaulted("--contact takes its place", "fetch.contact"))
    elif is_contact(text):
        work.put(setting, "fetch.contact", text)
    else:
        setting.decide(to_check(_NO_CONTACT, "fetch.contact"))


def is_contact(text: str) -> bool:
    """Whether it is a web page or a mail address."""
    return (
        text.startswith(("http://", "https://")) or re.fullmatch(r"\S+@\S+\.\S+", text) is not None
    )


def _agent(work: Migration, setting: Setting) -> None:
    if setting.text == STOCK_AGENT or not setting.text:
        setting.decide(defaulted("Nacre says its own name", "fetch.user_agent"))
        return
    text = setting.text.replace("{", "(").replace("}", ")")
    text = text.replace("@VERSION@", "{version}").replace("@OPERATOR_CONTACT_URL@", "{contact}")
    for name, word in (("@JOB_NAME@", "jobName"), ("@OPERATOR_NAME@", "operator")):
        text = text.replace(name, setting.bean.text(word))
    set_agent(work, setting, text)


def set_agent(work: Migration, setting: Setting, text: str) -> None:
    """A User-Agent, and the token that robots.txt is asked for."""
    work.put(setting, "fetch.user_agent", text)
    product = _PRODUCT.search(text)
    token = next((group for group in product.groups() if group), "") if product else ""
    if token:
        work.draft.put("robots.agent", token.lower(), f"the product in {setting.place}")
        setting.decide(mapped("fetch.user_agent, robots.agent"))


def _policy(work: Migration, bean: Bean) -> None:
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
        policy = _POLICIES[name]
        if policy == "obey":
            setting.decide(defaulted("as Nacre does", "robots.policy"))
        else:
            work.put(setting, "robots.policy", policy)
        return
    setting.decide(_named_policy(work, bean, setting))


def _named_policy(work: Migration, bean: Bean, setting: Setting) -> Conversion:
    """A policy that is a separate bean."""
    policy = _policy_bean(work, bean, setting.text)
    if policy is None:
        return to_check("no such policy: robots.txt is obeyed", "robots.policy")
    return use_policy(work, setting, policy)


def _policy_bean(work: Migration, bean: Bean, name: str) -> Bean | None:
    """The bean of a policy, by its name among those of CrawlMetadata, or by its own."""
    policies = bean.settings.get("availableRobotsPolicies")
    policy_map = work.beans.resolved(policies.value) if policies is not None else None
    value = policy_map.get(name) if isinstance(policy_map, dict) else None
    policy = work.beans.resolved(value) or work.beans.bean(name)
    return policy if isinstance(policy, Bean) else None


def _candidates(work: Migration, policy: Bean) -> list[str]:
    """The agents of a policy that lets the most favoured of them decide."""
    agents = work.beans.listed(getattr(policy.settings.get("candidateUserAgents"), "value", None))
    return [agent.strip() for agent in agents if isinstance(agent, str) and agent.strip()]


def use_policy(work: Migration, setting: Setting, policy: Bean) -> Conversion:
    """A robots policy that is a bean."""
    if policy.kind == "CustomRobotsPolicy":
        work.draft.put("robots.policy", "custom", setting.place)
        work.draft.put("robots.custom", policy.text("customRobots"), policy.place)
        _decide_policy(policy, mapped("robots.custom"))
        return mapped("robots.policy")
    if policy.kind in _FAVORED:
        tokens = _candidates(work, policy)
        if tokens:
            work.draft.put("robots.agent", ", ".join(tokens), policy.place)
        conversion = to_check(_TOGETHER, "robots.agent")
        _decide_policy(policy, conversion)
        return conversion
    conversion = missing(f"Nacre has no robots policy {policy.kind}: robots.txt is obeyed")
    policy.decide(conversion)
    return conversion


_POLICY_OF_HOST = {
    "CrawlMetadata": frozenset(("robotsPolicyName",)),
    "RobotsHonoringPolicy": frozenset(("type", "customRobots", "userAgents")),
}


def is_policy_of_host(owner: Bean, name: str) -> bool:
    """Whether a property that a sheet changes is about the robots policy."""
    return name in _POLICY_OF_HOST.get(owner.kind, ())


def map_policy_of_host(
    work: Migration, owner: Bean, name: str, entry: Setting
) -> tuple[Conversion, dict[str, Any]]:
    """Return the conversion of a robots policy of some hosts, and the settings of their sheet.

    Args:
        work: The migration.
        owner: The bean that has the property.
        name: The property, see `is_policy_of_host`.
        entry: The property as the sheet has it.
    """
    text = str(entry.value or "").strip()
    if name == "customRobots":
        return mapped("robots.custom"), {"robots.custom": text}
    if name == "userAgents":
        agents = ", ".join(str(agent).strip() for agent in work.beans.listed(entry.value) if agent)
        values = {"robots.agent": agents} if agents else {}
        return (mapped("robots.agent") if agents else defaulted("empty", "robots.agent")), values
    policies = _TYPES if owner.kind == "RobotsHonoringPolicy" else _POLICIES
    kind = text.lower()
    if kind not in policies:
        return _bean_of_host(work, owner, text)
    paths = {"robots.policy": policies[kind], "extract.obey_meta_robots": kind in _OBEY_META}
    if kind.startswith("most-favored"):
        return to_check(_TOGETHER, "robots.agent"), paths
    return mapped(", ".join(paths)), paths


def _bean_of_host(work: Migration, owner: Bean, name: str) -> tuple[Conversion, dict[str, Any]]:
    """A policy of some hosts that is a separate bean."""
    policy = _policy_bean(work, owner, name)
    if policy is None:
        return to_check("no such policy: robots.txt is obeyed", "robots.policy"), {}
    if policy.kind == "CustomRobotsPolicy":
        _decide_policy(policy, mapped("robots.custom"))
        custom = policy.text("customRobots")
        return mapped("robots.policy, robots.custom"), {
            "robots.policy": "custom", "robots.custom": custom
        }  # fmt: skip
    if policy.kind in _FAVORED:
        conversion = to_check(_TOGETHER, "robots.agent")
        _decide_policy(policy, conversion)
        tokens = _candidates(work, policy)
        agents = {"robots.agent": ", ".join(tokens)} if tokens else {}
        return conversion, {"robots.policy": "obey", **agents}
    return missing(f"Nacre has no robots policy {policy.kind}: robots.txt is obeyed"), {}


def _decide_policy(policy: Bean, conversion: Conversion) -> None:
    """Set the conversion of a policy, and of all its properties."""
    policy.decide(conversion)
    for setting in policy.settings.values():
        setting.decide(conversion)


_URL = re.compile(r"\+?\s*(https?://[^\s)\"';,]+)")
_STOCK = re.compile(r"heritrix/[0-9]")


def map_headers(work: Migration, bean: Bean) -> None:
    """`user-agent`, in which the contact is, and `from`."""
    bean.decide(mapped("fetch"))
    agent = bean.settings.get("userAgent")
    if agent is not None:
        _header_agent(work, agent)
    sender = bean.settings.get("from")
    if sender is None:
        return
    if is_contact(sender.text) and "@" in sender.text:
        work.put(sender, "fetch.mail_from", sender.text)
    elif sender.text:
        sender.decide(to_check("no mail address", "fetch.mail_from"))
    else:
        sender.decide(defaulted("empty", "fetch.mail_from"))


def _header_agent(work: Migration, setting: Setting) -> None:
    match = _URL.search(setting.text)
    if match is not None and not work.contact:
        work.draft.put("fetch.contact", match[1], setting.place)
    if _STOCK.search(setting.text) or not setting.text:
        target = "fetch.contact"
        setting.decide(
            mapped(target, "Nacre says its own name")
            if match is not None or work.contact
            else to_check("no web page in it: say who crawls in fetch.contact", target)
        )
        return
    plain = setting.text.replace("{", "(").replace("}", ")")
    set_agent(work, setting, plain.replace(match[1], "{contact}") if match is not None else plain)
    if match is None and not work.contact:
        setting.decide(to_check("no web page in it: say who crawls in fetch.contact"))


def map_robots(work: Migration, bean: Bean) -> None:
    """Map the robots policy."""
    bean.decide(mapped("robots"))
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
        text.decide(defaulted(f"the type is {name}"))
    agents = bean.settings.get("userAgents")
    if agents is not None:
        _agents(work, agents, name)


def _type(work: Migration, setting: Setting, name: str) -> None:
    if name == "classic":
        setting.decide(defaulted("as Nacre does", "robots.policy"))
    elif name in {"ignore", "custom"}:
        work.put(setting, "robots.policy", name)
    elif name.startswith("most-favored"):
        setting.decide(to_check(_TOGETHER, "robots.agent"))
    else:
        setting.decide(to_check("no such policy: robots.txt is obeyed", "robots.policy"))


def _agents(work: Migration, setting: Setting, name: str) -> None:
    tokens = [str(agent).strip() for agent in work.beans.listed(setting.value) if agent]
    if tokens and name == "most-favored-set":
        work.put(setting, "robots.agent", ", ".join(tokens))
    else:
        setting.decide(defaulted(f"the type is {name}"))
