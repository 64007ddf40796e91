"""The process that is killed: a crawl that tells its parent of every durable commit.

    python -m tests.kill.crawler JOB SITE PARALLEL

One JSON object a line on stdout: `commits` and `visits` durable, and URIs in flight, whenever a
commit has become durable; then `exit`.
"""

import asyncio
import json
import sys
from pathlib import Path

import uvloop

from nacre.engine.settings import EngineSettings
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from nacre.job.job import Job
from nacre.scope.rules.stock import rules_for
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.settings import JobSettings


def settings(site: str, parallel: int) -> JobSettings:
    """A crawl of one host, without delays: the server is slow instead."""
    return JobSettings(
        name="killed",
        seeds=(site,),
        scope=rules_for(ScopeKind.HOST),
        politeness=PolitenessSettings(delay=0.0, in_flight=parallel),
        engine=EngineSettings(parallel=parallel),
        frontier=FrontierSettings(max_retries=1),
    )


def tell(**facts: object) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


async def watch(job: Job) -> None:
    """Say how far it is, whenever a commit has become durable."""
    groups = 0
    while True:
        await asyncio.sleep(0.005)
        session = job.session
        if session is None:
            continue
        commit = session.storing.commit
        if commit.groups != groups:
            groups = commit.groups
            tell(commits=groups, visits=commit.committed, flying=session.engine.busy)


async def main() -> None:
    folder, site, parallel = sys.argv[1:]
    job = Job(Path(folder), settings(site, int(parallel)))
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(watch(job))
        how = await job.run()
        watching.cancel()
    tell(exit=str(how))


if __name__ == "__main__":
    uvloop.run(main())
