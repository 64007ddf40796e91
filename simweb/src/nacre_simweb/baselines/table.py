"""The policies by name."""

from collections.abc import Callable

from nacre.errors import ConfigError
from nacre_simweb.baselines.adaptive import heritrix, nutch_code, nutch_conf, stormcrawler
from nacre_simweb.baselines.fixed import Digest, Full, Uniform
from nacre_simweb.baselines.learned import Lambda
from nacre_simweb.baselines.oracles import Clairvoyant, Proportional, RateOracle
from nacre_simweb.baselines.paper import Paper
from nacre_simweb.oracle import Oracle
from nacre_simweb.ours import Nacre
from nacre_simweb.policy import Policy
from nacre_simweb.world import World

Maker = Callable[[World], Policy]

POLICIES: dict[str, Maker] = {
    "full": lambda _: Full(),
    "uniform": lambda _: Uniform(),
    "proportional": lambda world: Proportional(Oracle(world)),
    "nutch-code": lambda _: nutch_code(),
    "nutch-conf": lambda _: nutch_conf(),
    "heritrix": lambda _: heritrix(),
    "stormcrawler": lambda _: stormcrawler(),
    "nlc": lambda _: Paper(),
    "digest": lambda _: Digest(),
    "lambdacrawl": lambda _: Lambda(),
    "oracle": lambda world: RateOracle(Oracle(world)),
    "nacre": lambda _: Nacre(),
    "nacre-nohints": lambda _: Nacre(hints=False),
    "clairvoyant": lambda world: Clairvoyant(Oracle(world)),
}
"""What `--policy` names. Only those of `baselines.oracles` get to see the world."""


def make_policy(name: str, world: World) -> Policy:
    """Return a policy by name.

    Raises:
        ConfigError: There is none of that name.
    """
    maker = POLICIES.get(name)
    if maker is None:
        raise ConfigError(f"--policy: there is no policy {name!r}; there are {', '.join(POLICIES)}")
    return maker(world)
