"""Rules asked as a configuration has them."""

from typing import Any

from pydantic import TypeAdapter

from nacre.scope.compile import compile_scope
from nacre.scope.rules.stock import AnyRule
from nacre.scope.scope import Scope
from nacre.scope.state import ScopeState
from nacre.scope.subject import Facts, Need, Subject

RULE: TypeAdapter[AnyRule] = TypeAdapter(AnyRule)
EVERYTHING = Need.ADDRESS | Need.HEADERS | Need.RESPONSE | Need.DIGEST
URL = "http://www.a.test/x/y.html?q=1"


def scope_of(
    *rules: dict[str, Any], state: ScopeState | None = None, offers: Need = EVERYTHING
) -> Scope:
    return compile_scope(
        [RULE.validate_python(rule) for rule in rules], state or ScopeState(), offers
    )


def says(
    rule: dict[str, Any], url: str = URL, state: ScopeState | None = None, **known: Any
) -> str:
    """What one rule says: facts by `f_` names."""
    facts = {key[2:]: known.pop(key) for key in list(known) if key.startswith("f_")}
    subject = Subject(url, facts=Facts(**facts), **known)
    return str(scope_of(rule, state=state).decide(subject).decision)
