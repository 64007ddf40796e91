"""Places of secrets: their settings and recipients (pure).

A secret is bound to its place: after a change of its recipient it must be entered again. Otherwise
users with the right to edit a job, but not to see its passwords, could send them to other servers.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Final, NamedTuple

from pydantic import BaseModel

from nacre.config.component import Component, NamedKind
from nacre.config.named_values import marked_fields
from nacre.config.place import InvalidValuesError, UnknownPropertyError, with_values
from nacre.config.secret import Secret
from nacre.config.sheet import flat
from nacre.errors import ConfigError, Problem
from nacre.messages import message
from nacre.settings.settings import JobSettings

_MOVED: Final = Problem(
    "",
    message(
        "settings.secret-destination-changed", "what this secret is sent to is another server now"
    ),
    message("settings.secret-entered-again", "the secret entered again with it"),
    "password: {env: SITE_PASSWORD}",
)  # fmt: skip
_RECIPIENTS: Final = frozenset((NamedKind.SERVER, NamedKind.FILE))
_MOST_PAIRS: Final = 20
"""Sheets about secrets up to which each pair of them is tried together."""


class SecretPlace(NamedTuple):
    """A secret at its place.

    Attributes:
        path: The setting; of an item of a list with its number.
        kind: The same with `*` in place of numbers.
        sent_to: Values of the settings that determine its recipient.
        secret: The secret.
    """

    path: str
    kind: str
    sent_to: tuple[str, ...]
    secret: Secret

    @property
    def binding(self) -> tuple[str, tuple[str, ...], str]:
        """The place, the recipient and the secret."""
        return self.kind, self.sent_to, self.secret.text


def secret_places(settings: JobSettings) -> list[SecretPlace]:
    """Return the secrets of a job: those of its settings, and those under each of its sheets.

    Sheets are also tried in pairs: one may bring a secret, and another one its recipient.
    """
    return [*_places(settings, "", ""), *_sheet_places(settings)]


def _sheet_places(settings: JobSettings) -> list[SecretPlace]:
    """Return the secrets under each sheet, and under each pair of sheets."""
    places: list[SecretPlace] = []
    sheets = {name: flat(tree, settings) for name, tree in settings.sheets.items()}
    about = [values for values in sheets.values() if any(map(_is_near, values))]
    combined: list[Mapping[str, object]] = [*about]
    if len(about) <= _MOST_PAIRS:
        combined += [{**first, **second} for first, second in permutations(about, 2)]
    for values in combined:
        try:
            places += _places(with_values(settings, values), "", "")
        except (InvalidValuesError, UnknownPropertyError):
            continue  # a combination that no URI can have
    return places


def _is_near(path: str) -> bool:
    """Return whether a setting of a sheet is in a section that has secrets."""
    return path.partition(".")[0] in _SECTIONS


def _sections() -> frozenset[str]:
    return frozenset(
        name
        for name, info in JobSettings.model_fields.items()
        if isinstance(info.annotation, type)
        and issubclass(info.annotation, BaseModel)
        and _may_hold(info.annotation)
    )


def _may_hold(model: type[BaseModel]) -> bool:
    kinds = [info.annotation for info in model.model_fields.values()]
    return Secret in kinds or any(
        isinstance(kind, type) and issubclass(kind, BaseModel) and _may_hold(kind) for kind in kinds
    )


_SECTIONS: Final = _sections()


def _places(value: object, path: str, kind: str) -> Iterator[SecretPlace]:
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            inner = getattr(value, name)
            below, like = (f"{above}.{name}" if above else name for above in (path, kind))
            if isinstance(inner, Secret):
                if inner:
                    yield SecretPlace(below, like, _recipient(value, name), inner)
            elif isinstance(inner, BaseModel | tuple):
                yield from _places(inner, below, like)
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from _places(item, f"{path}.{number}", f"{kind}.*")


def _recipient(holder: BaseModel, secret: str) -> tuple[str, ...]:
    """Return the values of the settings that determine the recipient of a secret."""
    names: Sequence[str] | None = holder.sent_to if isinstance(holder, Component) else None
    if names is None:
        marked = marked_fields(type(holder))
        names = [name for name, kind in marked.items() if kind in _RECIPIENTS and name != secret]
    return tuple(f"{name}={getattr(holder, name)}" for name in sorted(names))


def moved_secrets(
    before: JobSettings | None, after: JobSettings, *, strict: bool, references: bool
) -> list[Problem]:
    """Return a problem for each secret that is sent to another server than before.

    Args:
        before: The settings as they are; None if they cannot be read.
        after: The settings as they would be.
        strict: Count a secret that is not in `before` as moved: it cannot have been entered.
        references: Secrets in files and variables count, too.
    """
    old = secret_places(before) if before is not None else []
    bound = {place.binding for place in old}
    old_secrets = {(place.kind, place.secret.text) for place in old}
    return [
        _MOVED._replace(path=place.path)
        for place in secret_places(after)
        if (references or not place.secret.source)
        and place.binding not in bound
        and (strict or (place.kind, place.secret.text) in old_secrets)
    ]


def require_unmoved(
    before: JobSettings | None, after: JobSettings, *, strict: bool, references: bool
) -> None:
    """Raise ConfigError if a secret is sent to another server than before: see `moved_secrets`."""
    if moved := moved_secrets(before, after, strict=strict, references=references):
        raise ConfigError(moved)


def resent_secrets(before: JobSettings, after: JobSettings) -> list[Problem]:
    """Return a problem for each secret that a change sends elsewhere without entering it again.

    A secret that the change enters is another object, even if it has the same text. Those of
    sheets are made at each look, so that there the text counts.

    Args:
        before: The settings as they are.
        after: Settings that were changed by `config.place.with_values`.
    """
    own, old = list(_places(after, "", "")), secret_places(before)
    bound, same = {place.binding for place in old}, {id(place.secret) for place in old}
    old_secrets = {(place.kind, place.secret.text) for place in old}
    moved = [p for p in own if id(p.secret) in same and p.binding not in bound]
    fine = bound | {p.binding for p in own}
    moved += [
        p
        for p in _sheet_places(after)
        if p.binding not in fine and (p.kind, p.secret.text) in old_secrets
    ]
    return [_MOVED._replace(path=p.path) for p in moved]
