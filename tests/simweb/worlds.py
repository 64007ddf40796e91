"""Articles of worlds, found and named."""

from nacre_simweb.reply import SimulatedReply


def url_of(world, article, time=0.0, *, second=False):
    host = world.site.hosts[article.host]
    return f"http://{host}{world.resources.names.article(article, int(second))}"


def walk(world, time, limit=4000):
    """All that can be reached from the start pages, with replies."""
    todo = list(world.starts)
    seen: dict[str, SimulatedReply] = {}
    while todo and len(seen) < limit:
        url = todo.pop()
        if url in seen:
            continue
        reply = seen[url] = world.respond(url, time)
        if reply.resource.kind not in {"embed", "file"}:
            todo += [link.url for link in reply.page.links]
    return seen


def articles_where(world, test):
    for host in world.site.articles:
        for article in host:
            if test(world.lives.of(article)):
                return article
    raise AssertionError("no such article in this world")
