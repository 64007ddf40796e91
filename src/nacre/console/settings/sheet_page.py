"""`/j/J/settings/sheets`: where which sheets apply, and other settings for a place."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from nacre.console.call import Call, PageAnswer
from nacre.console.links import ItemList
from nacre.console.settings.changes import ChangedSettings, change
from nacre.console.settings.file_page import form_of, frame
from nacre.console.settings.sheets import (
    AssociationFacts,
    PlaceRequest,
    SheetPlace,
    SheetsAtUrl,
    ValueRequest,
    list_sheets,
    sheet_value,
    sheets_at,
)
from nacre.console.task_answers import ask
from nacre.core.message_data import to_json
from nacre.errors import ConfigError, JobError, NacreError
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import not_found
from nacre.job.apply_change import ChangeRequest
from nacre.messages import message
from nacre.ops.fields import Flag, LineTexts, Order, ShortText, ShortTexts, Texts
from nacre.uri.domain import registered_domain
from nacre.uri.parse import is_ip
from nacre.web.decoding import lines_of
from nacre.web.workers.task import NoRequest


class PendingSheetChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change of sheets that the form sends back after its preview.

    It comes from the browser, so it has only what the page offers: nothing that is for the owner
    alone.

    Attributes:
        assignments: See `ChangeRequest`.
        place: See `ChangeRequest`.
        remove: See `ChangeRequest`.
        associate: See `ChangeRequest`.
        dissociate: See `ChangeRequest`.
        surts: See `ChangeRequest`.
    """

    assignments: list[str] = []
    place: str = ""
    remove: str = ""
    associate: dict[str, list[str]] | None = None
    dissociate: str = ""
    surts: list[str] = []

    def request(self, *, preview: bool) -> ChangeRequest:
        """Return the request to the job; with `preview` it changes nothing."""
        return ChangeRequest(**msgspec.structs.asdict(self), preview=preview)


async def page(call: Call) -> PageAnswer:
    """The tree of prefixes, and the editor for a place."""
    query = call.request.query_params
    return await _sheets(call, call.job(), query.get("u", "")[:2_000], query.get("key", "")[:200])


async def _sheets(
    call: Call, job: FoundJob, url: str = "", key: str = "", **more: Any,  # noqa: ANN401 - facts
) -> PageAnswer:  # fmt: skip
    facts = await frame(call, job, "sheets")
    page_facts: dict[str, Any] = {
        "sheets": (), "associations": (), "places": (), "keys": (), "at": None, "u": url,
        "key": key, "refused": "", "preview": None, "pending": "", "applied": None, "typed": None,
    }  # fmt: skip
    status = 200
    try:
        answer = await ask(call, list_sheets, NoRequest())
        page_facts |= {"sheets": answer.items, "places": answer.places, "keys": answer.keys}
        page_facts["associations"] = answer.associations
        if url:
            page_facts["at"] = await ask(call, sheets_at, PlaceRequest(url, key))
    except NacreError as error:
        page_facts["refused"], status = error.message, 422
    page_facts |= more
    page_facts["tree"] = sheet_tree(page_facts["places"])
    return PageAnswer(
        "settings_sheets.html", {**facts, **page_facts}, 422 if more.get("refused") else status
    )


async def submit(call: Call) -> PageAnswer:
    """Preview a change of sheets, or make a change after its preview."""
    job, form = call.job(), await form_of(call)
    url, key = form.get("u", ""), form.get("key", "")
    try:
        if form.get("pending"):
            sent = msgspec.json.decode(form["pending"], type=PendingSheetChange)
            request = sent.request(preview=False)
            return await _sheets(call, job, url, applied=await change(call, job, request))
        pending = await _sheet_change(call, form)
        preview = await change(call, job, pending.request(preview=True))
    except msgspec.MsgspecError as error:
        return await _sheets(call, job, url, key, refused=f"not a change: {error}")
    except (ConfigError, JobError) as error:
        return await _sheets(call, job, url, key, refused=error.message, typed=form.get("value"))
    text = to_json(pending).decode()
    return await _sheets(
        call, job, url, key, preview=preview, pending=text, typed=form.get("value")
    )


async def _sheet_change(call: Call, form: Mapping[str, str]) -> PendingSheetChange:
    """Return the change that a form of the page describes."""
    action, name = form.get("what", "place"), form.get("name", "")
    surts = list(lines_of(form.get("surts", "")))
    if action == "remove":
        return PendingSheetChange(remove=name)
    if action == "dissociate":
        return PendingSheetChange(dissociate=name, surts=surts)
    if action == "associate":
        return PendingSheetChange(associate={"sheets": [name], "surts": surts})
    key = form.get("key", "")
    typed = await ask(call, sheet_value, ValueRequest(key, form.get("value", "")))
    line = f"{key}={to_json(typed.value).decode()}"
    return PendingSheetChange(assignments=[line], place=form.get("u", ""))


class SheetNode(NamedTuple):
    """A node of the tree.

    Attributes:
        label: Its part of the name: a domain, a host, a part of a path.
        place: What applies there of itself, as `list_sheets` has it; None for a node that only
            has others below it.
        nodes: The nodes below it.
        places: Places in it and below it.
    """

    label: str
    place: SheetPlace | None
    nodes: tuple["SheetNode", ...]
    places: int


def sheet_tree(places: Iterable[SheetPlace]) -> tuple[SheetNode, ...]:
    """The places as a tree; a level without a choice and without sheets is left out.

    Args:
        places: The places.
    """
    tree: dict[str, Any] = {}
    for place in places:
        here = tree
        for label in labels_of(place.prefix):
            here = here.setdefault(label, {})
        here.setdefault("", []).append(place)
    return _nodes(tree)


def _nodes(tree: Mapping[str, Any]) -> tuple[SheetNode, ...]:
    level: list[SheetNode] = []
    for label, below in tree.items():
        if not label:
            continue
        own, nodes = list(below.get("", ())), _nodes(below)
        if not own and len(nodes) == 1:
            level.append(nodes[0]._replace(label=_joined(label, nodes[0].label)))
            continue
        count = bool(own) + sum(node.places for node in nodes)
        # http and https of one place are two prefixes.
        more = [SheetNode(item.prefix, item, (), 1) for item in own[1:]]
        level += [SheetNode(label, own[0] if own else None, nodes, count), *more]
    return tuple(level)


def _joined(above: str, label: str) -> str:
    """The label of two levels that are shown as one: a host stands for its domain."""
    return label if not label.startswith("/") or "/" in above else above + label


def labels_of(prefix: str) -> Sequence[str]:
    """The levels of a SURT prefix: registered domain, host, then the parts of the path.

    Args:
        prefix: Such as `http://(org,example,www,)/a/`; without `)` it is all below a domain.
    """
    tail = prefix.partition("(")[2]
    authority, closed, path = tail.partition(")")
    name, _, port = _host(authority)
    if not name:
        return ("*",)
    domain = name if is_ip(name) else registered_domain(name) or name
    host = f"{name}:{port}" if port else name
    if not closed:
        host = f"*.{host}"
    parts = [f"/{part}" for part in path.split("/")[1:] if part]
    return tuple(dict.fromkeys((domain, host))) + tuple(parts)


def _host(authority: str) -> tuple[str, str, str]:
    """Name and port of the authority of a SURT, in the order of names."""
    if authority.startswith("["):
        return authority.partition("]")[0] + "]", "", authority.partition("]")[2].strip(",:")
    labels, colon, port = authority.partition(":")
    if is_ip(labels.strip(",")):
        return labels.strip(","), colon, port
    parts = [part for part in labels.split(",") if part]
    return ".".join(reversed(parts)), colon, port


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
    """The query of a change that may be a preview.

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
    named = tuple(association for association in answer.associations if name in association.sheets)
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
    sheet: SheetWish = call.body
    lines = [f"sheets.{sheet.name}.{text}" for text in sheet.assignments]
    request = ChangeRequest(assignments=lines, preview=sheet.preview)
    return await change(call, call.job(), request)


async def remove_sheet(call: Call) -> ChangedSettings:
    """Take a sheet away; no URIs may be associated with it."""
    query: PreviewQuery = call.query
    name = str(call.params["sheet"])
    return await change(call, call.job(), ChangeRequest(remove=name, preview=bool(query.preview)))


async def associate(call: Call) -> ChangedSettings:
    """Apply sheets to URIs with some prefixes, or to those that a rule accepts."""
    request: AssociationWish = call.body
    note: dict[str, object] = {"sheets": list(request.sheets)}
    note |= {"surts": list(request.surts)} if request.surts else {}
    note |= {"rule": request.rule} if request.rule is not None else {}
    note |= {"order": request.order} if request.order else {}
    return await change(call, call.job(), ChangeRequest(associate=note, preview=request.preview))


async def dissociate(call: Call) -> ChangedSettings:
    """Take a sheet off all URIs, or off some prefixes."""
    association: AssociationWish = call.body
    name = association.sheets[0] if association.sheets else ""
    request = ChangeRequest(
        dissociate=name, surts=list(association.surts), preview=association.preview
    )
    return await change(call, call.job(), request)
