"""The buttons of actions: their labels, and why one cannot be pressed now (pure)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from nacre.console.access.roles import Requester
from nacre.console.actions import WHYS
from nacre.ops.allowed_actions import OTHER_KIND, JobAction
from nacre.ops.roles import Role


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


LABELS: Final[Mapping[str, str]] = {
    "start": _("Start"),
    "start-paused": _("Start paused"),
    "go-on": _("Go on"),
    "go-on-checkpoint": _("Go on from the last checkpoint"),
    "pause": _("Pause"),
    "resume": _("Resume"),
    "stop": _("Stop"),
    "checkpoint": _("Make a checkpoint"),
    "parallel": _("Other number of fetch slots"),
    "change": _("Change settings while it runs"),
    "edit": _("Edit all settings"),
    "frontier": _("Steer the frontier"),
    "end": _("End for good"),
    "recrawl": _("Recrawl"),
    "recrawl-full": _("Recrawl everything"),
    "run-rounds": _("Run rounds"),
    "stop-after-step": _("Stop after this step"),
    "dry-run-rounds": _("Dry run"),
}
"""The label of each action."""

SENT: Final = frozenset(LABELS) - {"parallel", "change", "edit", "frontier"}
"""Actions that a button alone can take; the others have pages of their own."""

_FIRST: Final = (("go-on", "start"), ("resume", "pause"), ("stop",), ("checkpoint",), ("recrawl",),
                 ("run-rounds",), ("stop-after-step",), ("dry-run-rounds",))  # fmt: skip
"""What stands beside the title: of each group the action that is possible, or the last one."""


class ActionButton(NamedTuple):
    """A button.

    Attributes:
        name: The action.
        label: Its label.
        why: Why it cannot be pressed; "" where it can.
        command: The same on the command line.
        is_sent: A button alone can take it.
    """

    name: str
    label: str
    why: str
    command: str
    is_sent: bool


def action_buttons(
    translate: Callable[[str], str], actions: Iterable[JobAction], identity: Requester
) -> tuple[ActionButton, ...]:
    """The buttons of all actions that are for jobs of this kind.

    Args:
        translate: Gives the text of another language.
        actions: The actions of a job.
        identity: Who looks at the page.
    """
    needs = "" if identity.role >= Role.OPERATOR else translate(_("this needs the role operator"))
    return tuple(
        ActionButton(
            action.name,
            translate(LABELS[action.name]),
            needs or ("" if action.allowed else translate(WHYS[action.why])),
            action.command,
            action.name in SENT,
        )
        for action in actions
        if action.why not in OTHER_KIND
    )


def many_buttons(translate: Callable[[str], str], identity: Requester) -> tuple[ActionButton, ...]:
    """The buttons for many jobs at once; () for who may not press them."""
    if identity.role < Role.OPERATOR:
        return ()
    names = ("go-on", "pause", "resume", "stop", "checkpoint", "recrawl")
    labels = {**LABELS, "go-on": LABELS["start"]}
    return tuple(
        ActionButton(name, translate(labels[name]), "", "", is_sent=True) for name in names
    )


def first_buttons(buttons: Iterable[ActionButton]) -> tuple[ActionButton, ...]:
    """The few that stand beside the title, whether they can be pressed or not."""
    known = {button.name: button for button in buttons}
    groups = [[known[name] for name in names if name in known] for names in _FIRST]
    return tuple(
        next((one for one in group if not one.why), group[-1]) for group in groups if group
    )
