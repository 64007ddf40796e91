"""Sites of shells: what their server answers, and what a browser shows of it."""

import json

from nacre_simweb.application import API, SCRIPT, shown_document
from nacre_simweb.archetypes import archetype
from nacre_simweb.decision import Decisions
from nacre_simweb.ours import Nacre
from nacre_simweb.policy import WantedVisit
from nacre_simweb.validators import Request
from nacre_simweb.world import World
from tests.simweb.worlds import articles_where, url_of


def _worlds() -> tuple[World, World]:
    """The application, and the same site without scripts."""
    parameters = archetype("app", "honest")
    shape = parameters.shape.model_copy(update={"pages": 80, "sections": 3})
    plain = shape.model_copy(update={"app": False})
    return tuple(  # type: ignore[return-value]
        World(parameters.model_copy(update={"shape": some}), 3) for some in (shape, plain)
    )


def test_every_page_is_the_same_shell_a_missing_one_too() -> None:
    world, _ = _worlds()
    start = world.starts[0]
    bodies = {world.respond(start + path, 9.0).body for path in ("", "xwzx/", "no/page.htm")}
    assert len(bodies) == 1
    assert b'id="app"' in bodies.pop()
    assert (
        world.respond(start.rstrip("/") + SCRIPT, 9.0).header("Content-Type") == "text/javascript"
    )
    assert "xml" in world.respond(start + "sitemap.xml", 9.0).header("Content-Type")


def test_the_shell_is_not_modified_whatever_its_page_says() -> None:
    world, _ = _worlds()
    start = world.starts[0]
    tag = world.respond(start, 0.0).header("ETag")
    assert world.respond(start, world.end, Request(etag=tag)).status == 304


def test_the_api_says_what_the_page_without_scripts_says() -> None:
    world, plain = _worlds()
    article = articles_where(world, lambda life: life.versions)
    url = url_of(world, article)
    host, path = url.partition("//")[2].split("/", 1)
    reply = world.respond(f"http://{host}{API}/{path}", 9.0)
    shown = plain.respond(url, 9.0)
    assert json.loads(reply.body)["html"].encode() == shown.body == shown_document(reply.body)
    assert reply.page.links == shown.page.links
    missing = world.respond(f"http://{host}{API}/info/xwzx/1.htm", 9.0)
    assert (missing.status, missing.header("Content-Type")) == (404, "application/json")


def test_decisions_see_what_a_browser_shows() -> None:
    world, plain = _worlds()
    decisions, policy = Decisions(world), Nacre()
    start = world.starts[0]
    first, missing = decisions._visit(WantedVisit(start), policy), f"{start}info/xwzx/1.htm"
    assert (first.status, first.rendered, first.body()) == (
        *(200, True),
        plain.respond(start, 0.0).body,
    )
    assert decisions._visit(WantedVisit(missing), policy).status == 200
    kinds = [(row.kind, row.status) for row in decisions.archive.rows]
    assert kinds == [("home", 200), ("embed", 200), ("error", 200), ("embed", 404)]
    assert [capture.row.kind for capture in decisions.archive.kept] == ["home", "error"]
