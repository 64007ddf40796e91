"""Advice about a search of captures: the parts that it left out, and queries that find more."""

from nacre.catalogue.filters import CatalogueQuery
from nacre.catalogue.holdings import Holding
from nacre.machine.layout import Layout
from nacre.messages import message

_NOT_MODIFIED = "304"


def skipped_members(holding: Holding) -> str:
    """Name the members that a search for words leaves out; "" for none.

    Args:
        holding: The job, collection or files.
    """
    skipped = [
        member.name
        for member in holding.members
        if not member.is_missing and not Layout(member.root).search.is_dir()
    ]
    if not skipped or len(skipped) == len(holding.members):
        return ""  # a search without any index is refused
    return message(
        "ops.members-without-words",
        "{names}: no index of words, so the search leaves this out; `nacre index JOB` makes the "
        "index of a job",
        names=", ".join(skipped),
    )


def advise_after_nothing(query: CatalogueQuery) -> list[str]:
    """Return what may find more when a search found nothing (pure).

    Args:
        query: The search.
    """
    advice: list[str] = []
    if query.url:
        advice.append(
            message(
                "ops.url-alone",
                "a URL finds only its own captures: '{url}*' finds all that begins so, a host "
                "finds all its URLs",
                url=query.url,
            )
        )
    if _NOT_MODIFIED in query.status.split(","):
        advice.append(
            message(
                "ops.not-modified-status",
                "indexes have no status for most replies 304: --mime revisit finds the captures "
                "that refer to an earlier content",
            )
        )
    return advice
