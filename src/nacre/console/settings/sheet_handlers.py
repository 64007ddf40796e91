"""`/api/v1/jobs/J/sheets` and `associations`: other settings for some URIs."""

from typing import Any

import msgspec

from nacre.console.call import Call
from nacre.console.cursors import ItemList
from nacre.console.problems import not_found
from nacre.console.readers.task import NoRequest
from nacre.console.settings.changes import ChangedSettings, change
from nacre.console.settings.sheets import (
    AssociationFacts,
    PlaceRequest,
    SheetsAtUrl,
    list_sheets,
    sheets_at,
)
from nacre.console.task_answers import ask
from nacre.job.apply_change import ChangeRequest
from nacre.messages import message
from nacre.ops.fields import Flag, LineTexts, Order, ShortText, ShortTexts, Texts


class SheetDetails(msgspec.Struct, frozen=True):
    """A sheet, and where it applies.

    Attributes:
        name: Its name.
        shipped: It comes with Nacre.
        values: What it says, by path.
        associations: The associations that name it.
    """

    name: str
    shipped: bool
    values: dict[str, str]
    associations: tuple[AssociationFacts, ...]


class AssociationList(ItemList[AssociationFacts], frozen=True):
    """All associations of sheets with URIs."""


class SheetWish(msgspec.Struct, frozen=True):
    """A sheet to be made or changed.

    Attributes:
        name: Its name.
        assignments: `path=value` texts.
        preview: Change nothing; count the queued URIs that would be affected.
    """

    name: ShortText
    assignments: Texts
    preview: bool = False


class AssociationWish(msgspec.Struct, frozen=True):
    """An association to be added, or taken off.

    Attributes:
        sheets: The sheets, the strongest last; to be taken off: one.
        surts: URLs or SURT prefixes; to be taken off: "all" where empty.
        rule: A rule as `crawl.yaml` has it, in place of prefixes; null for none.
        order: Its order among rules.
        preview: Change nothing; count the queued URIs that would be affected.
    """

    sheets: ShortTexts
    surts: LineTexts = ()
    rule: dict[str, Any] | None = None
    order: Order = 0
    preview: bool = False


class PreviewQuery(msgspec.Struct, frozen=True):
    """Whether a change is only looked at.

    Attributes:
        preview: 1: change nothing; count the queued URIs that would be affected.
    """

    preview: Flag = 0


async def get_sheet(call: Call) -> SheetDetails:
    """A sheet, and where it applies.

    Raises:
        RefusedRequestError: There is none of this name (404).
    """
    name = str(call.params["sheet"])
    answer = await ask(call, list_sheets, NoRequest())
    named = tuple(one for one in answer.associations if name in one.sheets)
    for sheet in answer.items:
        if sheet.name == name:
            return SheetDetails(name, sheet.shipped, sheet.values, named)
    raise not_found(message("console.sheet-of-job", "sheet {name} of this job", name=name))


async def list_associations(call: Call) -> AssociationList:
    """All associations of sheets with URIs."""
    answer = await ask(call, list_sheets, NoRequest())
    return AssociationList(answer.associations, None, answer.as_of)


async def get_sheets_at(call: Call) -> SheetsAtUrl:
    """The sheets that apply to a URL, and their values there."""
    place = await ask(call, sheets_at, PlaceRequest(call.query.u))
    return SheetsAtUrl(place.url, place.sheets, place.holds)


async def put_sheet(call: Call) -> ChangedSettings:
    """Make a sheet, or add settings to it."""
    wish: SheetWish = call.body
    lines = [f"sheets.{wish.name}.{text}" for text in wish.assignments]
    request = ChangeRequest(assignments=lines, preview=wish.preview)
    return await change(call, call.job(), request)


async def remove_sheet(call: Call) -> ChangedSettings:
    """Take a sheet away; no URIs may be associated with it."""
    query: PreviewQuery = call.query
    name = str(call.params["sheet"])
    return await change(call, call.job(), ChangeRequest(remove=name, preview=bool(query.preview)))


async def associate(call: Call) -> ChangedSettings:
    """Apply sheets to URIs with some prefixes, or to those that a rule accepts."""
    wish: AssociationWish = call.body
    said: dict[str, Any] = {"sheets": list(wish.sheets)}
    said |= {"surts": list(wish.surts)} if wish.surts else {}
    said |= {"rule": wish.rule} if wish.rule is not None else {}
    said |= {"order": wish.order} if wish.order else {}
    return await change(call, call.job(), ChangeRequest(associate=said, preview=wish.preview))


async def dissociate(call: Call) -> ChangedSettings:
    """Take a sheet off all URIs, or off some prefixes."""
    wish: AssociationWish = call.body
    name = wish.sheets[0] if wish.sheets else ""
    request = ChangeRequest(dissociate=name, surts=list(wish.surts), preview=wish.preview)
    return await change(call, call.job(), request)
