"""Other settings for a running job: what each part does with them.

Parts that sheets can tell something else for each URI keep an `Effective` and find the new values
at their next look. What holds for the whole job is handed to its part here.
"""

from msgspec import structs

from nacre.fetch.settings import fill_user_agent
from nacre.job.assemble import Parts
from nacre.job.changes.change import Change
from nacre.job.configuration.settings import JobSettings
from nacre.job.session import Session


def apply(session: Session, change: Change) -> None:
    """From now on these settings, sheets and associations hold."""
    parts = session.parts
    before, settings = parts.settings, change.settings
    parts.sheets.overlays.replace(settings, change.sheets.sheets)
    parts.sheets.associate(change.sheets.associations)
    session.settings = parts.settings = settings
    _give(parts, before, settings)
    session.space.settings = settings
    session.mind_limits()
    parts.candidates.recent.forget_refusals()
    parts.frontier.renewal.renew(parts.clock.monotonic())
    parts.engine.wake()


def _give(parts: Parts, before: JobSettings, settings: JobSettings) -> None:
    if before.engine.parallel != settings.engine.parallel:
        parts.engine.parallel = settings.engine.parallel
    parts.outside.capacity = settings.engine.outside_kept
    parts.candidates.trace_scope(parts.logs.of_scope(settings.engine))
    parts.resolver.configure(settings.dns)
    parts.jar.settings = settings.cookies
    if before.network.allow != settings.network.allow:
        parts.guard.allow_networks(settings.network.allow)
    _give_archive(parts, settings)


def _give_archive(parts: Parts, settings: JobSettings) -> None:
    for writer in (parts.archive.writer, parts.archive.large):
        writer.settings = settings.archive
        writer.origin = structs.replace(
            writer.origin,
            robots=settings.robots.policy.value,
            user_agent=fill_user_agent(settings.fetch.user_agent, settings.fetch.contact),
            http_from=settings.fetch.mail_from,
        )
