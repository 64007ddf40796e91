"""`/j/J/dry-run-rounds`: what the next round of a batch crawl would list."""

import msgspec

from nacre.console.api.rounds import dry_round_of
from nacre.console.call import Call, PageAnswer


async def page(call: Call) -> PageAnswer:
    """The answer to the button of a dry run."""
    job = call.job()
    found = await dry_round_of(call, job)
    return PageAnswer("dry_round.html", {"job": job.id, "found": msgspec.to_builtins(found)})
