"""The change-rate estimator: known answers, recovery of true rates, use of priors."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.planner.change_rate import rates
from nacre.planner.change_rate.rates import FLAT, NO_EVIDENCE, RATES


def test_the_grid_spans_a_change_in_eight_years_to_one_an_hour() -> None:
    assert RATES[0] == pytest.approx(1 / 3000)
    assert RATES[-1] == pytest.approx(24.0)
    assert len(RATES) == 28


def test_no_evidence_leaves_the_prior() -> None:
    assert rates.posterior(NO_EVIDENCE, FLAT) == pytest.approx(FLAT)


def test_a_first_visit_says_nothing() -> None:
    assert rates.observe(NO_EVIDENCE, 0.0, changed=True) == NO_EVIDENCE


@given(
    st.lists(st.tuples(st.floats(0.001, 400), st.booleans()), max_size=40),
    st.floats(0, 0.9),
)
def test_any_visits_give_a_distribution(visits: list[tuple[float, bool]], noise: float) -> None:
    evidence = NO_EVIDENCE
    for interval, changed in visits:
        evidence = rates.observe(evidence, interval, changed=changed, noise=noise)
    posterior = rates.posterior(evidence, FLAT)
    assert len(evidence) == 56
    assert sum(posterior) == pytest.approx(1.0)
    assert all(0.0 <= weight <= 1.0 for weight in posterior)


def _estimate(rate: float, visits: int, rng: random.Random, prior: tuple[float, ...]) -> float:
    evidence = NO_EVIDENCE
    for _ in range(visits):
        interval = rng.expovariate(1 / 10.0)
        changed = rng.random() < 1.0 - math.exp(-rate * interval)
        evidence = rates.observe(evidence, interval, changed=changed)
    return rates.log_mean_rate(rates.posterior(evidence, prior))


def _prior(rng: random.Random, visits: int) -> tuple[float, ...]:
    """The prior fitted to many pages like those of the test."""
    evidences = []
    for _ in range(6000 // visits):
        rate = math.exp(rng.gauss(math.log(1 / 20), 1.5))
        evidence = NO_EVIDENCE
        for _ in range(visits):
            interval = rng.expovariate(1 / 10.0)
            changed = rng.random() < 1.0 - math.exp(-rate * interval)
            evidence = rates.observe(evidence, interval, changed=changed)
        evidences.append(evidence)
    prior = FLAT
    for _ in range(5):
        prior = rates.fit_prior(evidences, FLAT, start=prior)
    return prior


@pytest.mark.parametrize(("visits", "largest"), [(3, 1.1), (10, 0.75), (30, 0.48)])
def test_errors_of_the_rate_shrink_as_the_reference_says(visits: int, largest: float) -> None:
    """Table 2.1 of the reference: RMSE of the logarithm of the rate; the true prior gives .96,
    .68 and .44 here, so there is little left to gain."""
    rng = random.Random(7)
    prior = _prior(rng, visits)
    total = 0.0
    pages = 600
    for _ in range(pages):
        rate = math.exp(rng.gauss(math.log(1 / 20), 1.5))
        total += math.log(_estimate(rate, visits, rng, prior) / rate) ** 2
    assert math.sqrt(total / pages) <= largest


def test_noise_keeps_the_rate_from_exploding() -> None:
    naive = aware = NO_EVIDENCE
    for _ in range(20):
        naive = rates.observe(naive, 1.0, changed=True)
        aware = rates.observe(aware, 1.0, changed=True, noise=0.95)
    assert rates.mean_rate(rates.posterior(naive, FLAT)) > 3.0
    assert rates.mean_rate(rates.posterior(aware, FLAT)) < rates.mean_rate(
        rates.posterior(naive, FLAT)
    )


def test_a_count_finds_its_rate() -> None:
    evidence = rates.observe_count(NO_EVIDENCE, 200, 100.0)
    assert rates.mean_rate(rates.posterior(evidence, FLAT)) == pytest.approx(2.0, rel=0.3)


def test_old_evidence_fades() -> None:
    busy = NO_EVIDENCE
    for _ in range(8):
        busy = rates.observe(busy, 1.0, changed=True)
    quiet = sharp = busy
    for _ in range(4):
        quiet = rates.observe(quiet, 10.0, changed=False, keep=rates.remaining_share(10.0, 30.0))
        sharp = rates.observe(sharp, 10.0, changed=False)
    faded = rates.log_mean_rate(rates.posterior(quiet, FLAT))
    assert faded < rates.log_mean_rate(rates.posterior(sharp, FLAT))
    assert rates.remaining_share(10.0, 0.0) == 1.0


def test_a_small_class_leans_on_its_parent() -> None:
    fast = rates.observe_count(NO_EVIDENCE, 50, 10.0)
    slow_parent = rates.posterior(rates.observe_count(NO_EVIDENCE, 1, 1000.0), FLAT)
    one = rates.fit_prior([fast], slow_parent)
    many = rates.fit_prior([fast] * 500, slow_parent)
    assert rates.mean_rate(slow_parent) < rates.mean_rate(one) < rates.mean_rate(many)
    assert rates.fit_prior([], slow_parent) == slow_parent


def test_the_chance_of_a_change_grows_with_time() -> None:
    posterior = rates.posterior(rates.observe_count(NO_EVIDENCE, 10, 100.0), FLAT)
    chances = [rates.chance_of_change(posterior, days) for days in (0.0, 1.0, 10.0, 100.0, 1e4)]
    assert chances == sorted(chances)
    assert chances[0] == pytest.approx(0.0)
    assert chances[-1] == pytest.approx(1.0)
