"""Sites whose pages are shells that a script fills from a JSON API.

The server answers the path of every page with the same shell, that of a missing one too. What a
page says is in the reply to `/api` and its path: a browser shows it, and so does the simulated one.
"""

import json
from collections.abc import Callable

from nacre_simweb.page import Builder, SimulatedPage
from nacre_simweb.reply import Resource

API = "/api"
"""What the script puts before the path of a page."""
SCRIPT = "/static/app.js"
_SCRIPT = (
    b"fetch('/api' + location.pathname).then(r => r.json()).then(page => {\n"
    b"  document.getElementById('app').innerHTML = page.html; document.title = page.title;\n});\n"
)


def application_resource(
    path: str, origin: str, html: str, find: Callable[[str], Resource]
) -> Resource:
    """Return what the server of an application has at a path.

    Args:
        path: The path asked for.
        origin: Scheme and authority as asked for.
        html: Media type of the pages that are shells.
        find: Returns what a site without scripts would have at a path.
    """
    if path == SCRIPT:
        script = SimulatedPage(_SCRIPT)
        return Resource("embed", 200, 0, "script", 0.0, "text/javascript", lambda _: script)
    if path.startswith(f"{API}/"):
        return _as_json(find(path.removeprefix(API)), html)
    resource = find(path)
    if resource.mime != html or resource.kind == "wall":
        return resource
    return Resource("shell", 200, -1, "shell", 0.0, html, lambda _: _shell(origin))


def _shell(origin: str) -> SimulatedPage:
    page = Builder(origin)
    page.add('<!DOCTYPE html><html><head><meta charset="utf-8"><title>App</title></head><body>')
    page.add('<div id="app"></div>')
    page.embed(SCRIPT)
    page.add("</body></html>\n")
    return page.page()


def _as_json(resource: Resource, html: str) -> Resource:
    """Return the content of a page as the reply of the API; other resources as they are."""
    if resource.mime != html:
        return resource

    def make(nonce: int) -> SimulatedPage:
        page = resource.make(nonce)
        body = json.dumps({"title": resource.kind, "html": page.body.decode()}, ensure_ascii=False)
        return SimulatedPage(body.encode(), page.links)

    return resource._replace(mime="application/json", make=make, form=None, size=-1)


def shown_document(body: bytes) -> bytes:
    """Return the document that the script makes of a reply of the API."""
    text: str = json.loads(body)["html"]
    return text.encode()
