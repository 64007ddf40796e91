"""Forms and their controls: only what is sent by GET is a link."""

from nacre.core.crawluri import Hop
from nacre.extract.html_page import Node
from nacre.extract.html_script import is_script, script_of
from nacre.extract.html_table import references
from nacre.extract.html_walk import Walk

_INPUT = references("input", "src:E usemap:E")


def form(walk: Walk, node: Node, tag: str) -> None:
    """A form's action."""
    walk.met["form"] += 1
    method = (node.attr("method") or "get").strip().lower()
    walk.methods[""] = walk.methods[node.attr("id") or ""] = method
    action = node.attr("action")
    if action is None or walk.settings.ignore_form_action_urls:
        return
    if is_script(action):
        walk.script(script_of(action))
    elif method != "post" or not walk.settings.only_form_gets:
        walk.links.add(action, Hop.LINK, f"{tag}/@action")


def control(walk: Walk, node: Node, tag: str) -> None:
    """A control of a form, or a value of a list."""
    walk.value(node, tag)
    if tag == "input":
        walk.refer(node, _INPUT)
    if tag in {"input", "button"} and not walk.settings.ignore_form_action_urls:
        action = node.attr("formaction")
        if action and (not walk.settings.only_form_gets or _method(walk, node) != "post"):
            walk.links.add(action, Hop.LINK, f"{tag}/@formaction")


def _method(walk: Walk, node: Node) -> str:
    """How a button sends: as it says, else as its form does.

    That is the form which `form` names, or the last one that began. Without any it sends nothing;
    that counts as POST, as does a form that is yet to come.
    """
    own = node.attr("formmethod")
    if own is not None:
        return own.strip().lower()
    return walk.methods.get(node.attr("form") or "", "post")
