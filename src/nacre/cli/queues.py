"""`nacre frontier DIR queues|queue|retire|unretire|wake|forget|reconsider`: whole queues."""

from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, Everything, Regex, require_choice

Queue = Annotated[
    str,
    typer.Option(
        "--queue", metavar="REGEX", help="Found in the queue key; without it: all.",
        show_default=False,
    ),
]  # fmt: skip


def queues(
    ctx: typer.Context,
    queue: Queue = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="At most; 0: all.")
    ] = 100,
    as_json: AsJson = False,
) -> None:
    """List queues: state, precedence, what they spent, why they rest; the empty ones last."""
    from nacre.cli.look import opened
    from nacre.job.intake.edits import matcher
    from nacre.job.offline import reading
    from nacre.job.operator.queue_facts import queue_facts

    layout, settings = opened(ctx.obj)
    wanted = matcher(queue)
    with reading(layout, settings) as view:
        waiting = (facts for facts in queue_facts(view, wanted) if facts["pending"])
        empty = (facts for facts in queue_facts(view, wanted) if not facts["pending"])
        for number, facts in enumerate(chain(waiting, empty)):
            if limit and number == limit:
                output.tell("and more; --limit 0 lists all")
                break
            if as_json:
                print(output.json_text(facts))
            else:
                output.say(_line(facts))


def _line(facts: dict[str, Any]) -> str:
    rest = f"  {facts['why']}" if facts["why"] else ""
    return (
        f"{facts['queue']:<30} {facts['state']:<10} {facts['pending']:>8} URIs  "
        f"precedence {facts['precedence']}  spent {facts['spent']}{rest}"
    )


def queue(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Its key, such as com,example,www,.")],
    as_json: AsJson = False,
) -> None:
    """All that is known of one queue."""
    from nacre.cli.look import opened
    from nacre.errors import JobError
    from nacre.job.offline import reading
    from nacre.job.operator.queue_facts import facts_of

    layout, settings = opened(ctx.obj)
    with reading(layout, settings) as view:
        facts = facts_of(view, key)
    if facts is None:
        raise JobError(f"there is no queue {key}; `nacre frontier {ctx.obj} queues` lists them")
    if as_json:
        output.say_json(facts)
    else:
        facts["budget"] = "no limit" if facts["budget"] is None else facts["budget"]
        output.say(output.pairs(facts, indent=""))


def retire(ctx: typer.Context, queue: Queue = "", as_json: AsJson = False) -> None:
    """Hand out nothing more of these queues until `unretire`."""
    _steer(ctx.obj, "retire", "retired", queue, as_json=as_json)


def unretire(ctx: typer.Context, queue: Queue = "", as_json: AsJson = False) -> None:
    """Bring retired queues back; those over their budget or quota retire again."""
    _steer(ctx.obj, "unretire", "brought back", queue, as_json=as_json)


def wake(ctx: typer.Context, queue: Queue = "", as_json: AsJson = False) -> None:
    """End the waiting of queues; the politeness delay stays."""
    _steer(ctx.obj, "wake", "woken", queue, as_json=as_json)


def reconsider(ctx: typer.Context, queue: Queue = "", as_json: AsJson = False) -> None:
    """Look again at budgets, quotas and order of queues; what the operator retired stays so."""
    _steer(ctx.obj, "reconsider", "changed places", queue, as_json=as_json)


def forget(
    ctx: typer.Context,
    regex: Regex = "",
    queue: Queue = "",
    everything: Everything = False,
    as_json: AsJson = False,
) -> None:
    """Forget that URIs were crawled, so that they are crawled again once they are found again."""
    require_choice(regex, queue, everything=everything)
    _steer(ctx.obj, "forget", "forgotten", queue, regex, as_json=as_json)


def _steer(
    directory: Path, action: str, done: str, queue: str, url: str = "", *, as_json: bool
) -> None:
    import asyncio

    from nacre.cli.look import opened
    from nacre.job.at_rest import changing
    from nacre.job.operator.control import ask, running
    from nacre.job.operator.steer import steer

    layout, settings = opened(directory)

    async def change() -> int:
        async with changing(layout, settings) as parts:
            return await steer(parts, action, queue, url)

    if running(layout.socket):
        answer = ask(layout.socket, "frontier-steer", action=action, queue=queue, url=url)
        number = int(answer["changed"])
    else:
        number = asyncio.run(change())
    what = output.count(number, "URI" if action == "forget" else "queue")
    output.say_json({"changed": number}) if as_json else output.say(f"{what} {done}")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (queues, queue, retire, unretire, wake, forget, reconsider):
        app.command()(command)
