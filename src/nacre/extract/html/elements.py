"""Functions for the elements that need more than a row of the table.

Forms and their controls are links only if they are sent by GET. Script elements are scripts, or
data blocks that go by their type.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import msgspec

from nacre.core.crawluri import Hop
from nacre.extract.headers import link_hop, refresh_target
from nacre.extract.html.page import Node
from nacre.extract.html.table import EMBEDDED_METAS, PLAIN, PROSE_METAS, SVG_REFERENCES, references
from nacre.extract.html.walk import MAY_BE_SCRIPT, Handler, Walk, is_nofollow
from nacre.extract.likely import speculative_fixup
from nacre.extract.script import JSON_CONTEXT, json_urls
from nacre.wire.robots_tag import (
    LICENSE_LINK,
    PREFERENCE_METAS,
    RSL_LINK,
    RSL_MEDIA,
    directives,
)

_MARKUP = ("html", "template", "handlebars", "mustache", "x-jsrender", "x-tmpl")
_SCRIPT = ("script", "module", "livescript", "mathjax-config")
_SCHEME = "javascript:"


def is_script(href: str) -> bool:
    """Return whether a URL is `javascript:`, in any case, also after white space."""
    return href.lstrip()[: len(_SCHEME)].lower() == _SCHEME


def script_of(href: str) -> str:
    """Return the script after `javascript:`."""
    return unquote(href.lstrip()[len(_SCHEME) :])


def script(walk: Walk, node: Node, tag: str) -> None:
    """A script element, by its type."""
    for attribute in ("src", "href", "xlink:href"):
        source = node.attr(attribute)
        if source is not None:
            charset, path = node.attr("charset") or "", walk.path(node)
            walk.links.add(source, Hop.EMBED, f"{tag}/@{attribute}", path=path, charset=charset)
            break
    kind = (node.attr("type") or "").partition(";")[0].strip().lower()
    if not kind or kind.endswith(_SCRIPT):
        walk.script(walk.content(node))
    elif kind == "importmap":
        _import_map(walk, walk.content(node))
    elif "json" in kind or kind == "speculationrules":
        _data(walk, walk.content(node))
    elif kind.endswith(_MARKUP):
        walk.nested(walk.content(node))


def _import_map(walk: Walk, text: str) -> None:
    """The modules that an import map names; they are resolved against the page."""
    for value in json_strings(text):
        if value.startswith(("/", "./", "../", "https://", "http://")):
            walk.links.add(value, Hop.EMBED, "script[type='importmap']")


def _data(walk: Walk, text: str) -> None:
    """JSON-LD, speculation rules, state of an application: values that are very likely URIs."""
    if walk.settings.extract_json:
        for url in json_urls(text):
            walk.links.add(speculative_fixup(url, walk.links.base), Hop.SPECULATIVE, JSON_CONTEXT)


def json_strings(text: str) -> Iterator[str]:
    """Yield all string values of a JSON text, in order, keys left out; none when it is not JSON."""
    try:
        value = msgspec.json.decode(text.strip().encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack.extend(reversed(item.values()))
        elif isinstance(item, list):
            stack.extend(reversed(item))


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
    """Return the method of a button: its own, else that of its form.

    That is the form which `form` names, or the last one that began. Without any it sends nothing;
    that counts as POST, as does a form that is yet to come.
    """
    own = node.attr("formmethod")
    if own is not None:
        return own.strip().lower()
    return walk.methods.get(node.attr("form") or "", "post")


_ANCHOR_CONTEXTS = {
    tag: (f"{tag}/@href", f"{tag}[data-remote='true']/@href") for tag in ("a", "area")
}
_FRAMES = {tag: references(tag, "longdesc:E") for tag in ("frame", "iframe")}
_OBJECT = references("object", "usemap:E")
_EMBED = references("embed", "src:E")
_PICTURE = tuple(row for row in PLAIN["img"] if row.attribute != "src")
_LINK_HOP, _EMBED_HOP = Hop.LINK, Hop.EMBED  # the way to a member of an enumeration is long
_MOST_METAS, _LONGEST_META = 50, 500
_DIRECT_METAS = frozenset(("image", "thumbnailurl", "contenturl", "logo"))


def plain(walk: Walk, node: Node, tag: str) -> None:
    """Read an element by the table only."""
    walk.refer(node, PLAIN[tag])


def image(walk: Walk, node: Node, tag: str) -> None:
    """A picture; the same few are on a page again and again."""
    source = node.attr("src")
    if source and source not in walk.pictures:
        walk.pictures.add(source)
        walk.links.add(source, _EMBED_HOP, "img/@src", path=walk.path(node))
    attributes = node.attrs
    if attributes is None or len(attributes) != 2 or node.attr("alt") is None:
        walk.refer(node, _PICTURE)


def svg(walk: Walk, node: Node, tag: str) -> None:
    """An element of SVG that draws on another resource; `#id` is the document itself."""
    for attribute in ("href", "xlink:href"):
        value = node.attr(attribute)
        if value and not value.startswith("#"):
            walk.links.add(value, Hop.EMBED, f"{tag}/@{attribute}")
    walk.refer(node, PLAIN[tag][:-2])


def anchor(walk: Walk, node: Node, tag: str) -> None:
    """Read a link; a script after `javascript:` is searched."""
    href = node.attr("href")
    if href is None:
        href = node.attr("xlink:href")
        if href is None:
            return
    if href[:1] in MAY_BE_SCRIPT and is_script(href):
        walk.script(script_of(href))
        return
    if walk.settings.obey_rel_nofollow and is_nofollow(node):
        return
    rel = node.attr("rel") or ""
    context = _ANCHOR_CONTEXTS[tag][node.attr("data-remote") == "true"]
    charset = node.attr("charset") or ""
    text, path = walk.text(node), walk.path(node)
    walk.links.add(href, _LINK_HOP, context, rel.lower(), text, path, charset=charset)
    ping = node.attr("ping")
    if ping:
        walk.refer_list(ping, Hop.SPECULATIVE, f"{tag}/@ping")


def link(walk: Walk, node: Node, _tag: str) -> None:
    """Read a `link` element by its `rel`."""
    rel = node.attr("rel") or ""
    kind = link_hop(rel[:200], (node.attr("as") or "")[:20])
    href = node.attr("href")
    if href and "license" in rel.lower().split():
        is_rsl = (node.attr("type") or "").strip().lower() == RSL_MEDIA
        _prefer(walk, RSL_LINK if is_rsl else LICENSE_LINK, href)
    if kind and href is not None:
        charset = node.attr("charset") or ""
        path = walk.path(node)
        walk.links.add(href, kind[0], kind[1], rel.lower(), path=path, charset=charset)
    pictures = node.attr("imagesrcset")
    if pictures:
        walk.refer_all(pictures, Hop.EMBED, "link/@imagesrcset")


def base(_walk: Walk, _node: Node, _tag: str) -> None:
    """Seen to before the walk begins."""


def meta(walk: Walk, node: Node, _tag: str) -> None:
    """Refresh, robots, pictures for other sites, and whatever looks like a URI."""
    content = node.attr("content")
    if not content:
        return
    name = (node.attr("name") or node.attr("property") or "").strip().lower()
    equiv = node.attr("http-equiv")
    if equiv:
        if equiv.strip().lower() == "refresh":
            target = refresh_target(content)
            if target is not None:
                walk.links.add(target, Hop.REDIRECT, "meta")
    elif name and name in {"robots", walk.settings.robots_agent}:
        walk.robots |= directives(content)
        _prefer(walk, name, content)
    elif name in PREFERENCE_METAS:
        _prefer(walk, name, content)
    elif name.startswith(EMBEDDED_METAS) or _is_picture(node):
        _meta_embed(walk, name, content)
    elif name not in PROSE_METAS and walk.settings.meta_content:
        walk.speculate(content, Hop.SPECULATIVE, "meta")


def _prefer(walk: Walk, name: str, content: str) -> None:
    """Keep an element that states a preference, with its beginning, up to 50 of a page."""
    if len(walk.metas) < _MOST_METAS:
        walk.metas.append((name, content.strip()[:_LONGEST_META]))


def _is_picture(node: Node) -> bool:
    return (node.attr("itemprop") or "").lower() in _DIRECT_METAS


def _meta_embed(walk: Walk, name: str, content: str) -> None:
    """`og:image` and its kin; `og:image:width` and its kin are not URIs."""
    if "/" not in content or name.endswith(":type"):
        return
    context = f"meta[name='{name}']/@content" if name else "meta/@content"
    walk.links.add(content.strip(), Hop.EMBED, context)


def frame(walk: Walk, node: Node, tag: str) -> None:
    """Read a frame: its URL, or the document in `srcdoc`."""
    walk.met["frame"] += 1
    hop = Hop.EMBED if walk.settings.treat_frames_as_embeds else Hop.LINK
    source = node.attr("src")
    if source is not None:
        if is_script(source):
            walk.script(script_of(source))
        else:
            walk.links.add(source, hop, f"{tag}/@src")
    walk.refer(node, _FRAMES[tag])
    inner = node.attr("srcdoc")
    if inner:
        walk.nested(inner)


def flash_object(walk: Walk, node: Node, tag: str) -> None:
    """`object` and `applet`: their parts are found below `codebase`."""
    outer = walk.links.base
    codebase = node.attr("codebase")
    if codebase:
        walk.links.add(codebase, Hop.LINK, f"{tag}/@codebase")
        walk.links.rebase(walk.links.resolve(codebase) or outer)
    for part in _parts(node, tag):
        walk.links.add(part, Hop.EMBED, tag)
    if codebase:
        walk.links.rebase(outer)
    walk.refer(node, _OBJECT)


def _parts(node: Node, tag: str) -> list[str]:
    """What makes up an object, each as written; Java classes get their file extension."""
    parts = [node.attr("classid"), node.attr("data")]
    archive = node.attr("archive") or ""
    parts += archive.replace(",", " ").split() if tag == "applet" else archive.split()
    code = node.attr("code")
    if code:
        parts.append(code if code.endswith(".class") else f"{code}.class")
    return [part for part in parts if part]


def param(walk: Walk, node: Node, tag: str) -> None:
    """A parameter of an object."""
    value = node.attr("value")
    if value and (node.attr("name") or "").strip().lower() == "flashvars":
        flashvars(walk, value, f"{tag}/@value")
    else:
        walk.value(node, tag)


def embed(walk: Walk, node: Node, tag: str) -> None:
    """A plug-in."""
    walk.refer(node, _EMBED)
    variables = node.attr("flashvars")
    if variables:
        flashvars(walk, variables, f"{tag}/@flashvars")


def flashvars(walk: Walk, value: str, context: str) -> None:
    """Values of `key=value&key=value` that are likely URIs."""
    for pair in value.split("&"):
        walk.speculate(unquote(pair.partition("=")[2]), Hop.SPECULATIVE, context)


def style(walk: Walk, node: Node, _tag: str) -> None:
    """A style sheet."""
    walk.style(walk.content(node))


def raw_markup(walk: Walk, node: Node, _tag: str) -> None:
    """Markup that a browser with scripts, frames or plug-ins does not show."""
    walk.nested(walk.content(node))


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(PLAIN, plain),
    **dict.fromkeys(SVG_REFERENCES, svg),
    **dict.fromkeys(("a", "area"), anchor),
    **dict.fromkeys(("applet", "object"), flash_object),
    **dict.fromkeys(("button", "data", "input", "option"), control),
    **dict.fromkeys(("frame", "iframe"), frame),
    **dict.fromkeys(("noembed", "noframes", "noscript"), raw_markup),
    "img": image,
    "base": base,
    "embed": embed,
    "form": form,
    "link": link,
    "meta": meta,
    "param": param,
    "script": script,
    "style": style,
}
"""Readers by element name. For other elements only the attributes of the table are read."""
