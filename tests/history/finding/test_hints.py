"""Trust in hints: learned, leaning on a prior; lies of 304 replies; generated dates."""

import pytest

from nacre.history.finding.hints import Audit, HintTrust, Signal, dates_are_generated


def test_without_evidence_the_prior_holds() -> None:
    wider = Signal(0.9, 0.001)
    assert HintTrust().signal(wider) == pytest.approx(wider)


def test_an_honest_source_earns_trust() -> None:
    trust = HintTrust()
    for _ in range(60):
        trust.observe(hinted=True, changed=True, days=7.0)
        trust.observe(hinted=False, changed=False, days=7.0)
    signal = trust.signal()
    assert signal.recall > 0.95
    assert signal.false_rate < 0.005
    assert trust.precision > 0.95


def test_a_lying_source_loses_it() -> None:
    trust = HintTrust()
    for _ in range(60):
        trust.observe(hinted=True, changed=False, days=7.0)
        trust.observe(hinted=False, changed=True, days=7.0)
    signal = trust.signal()
    assert signal.recall < 0.1
    assert signal.false_rate > 0.1
    assert trust.precision < 0.05


def test_a_false_304_bans_conditions_for_a_quarter() -> None:
    audit = Audit()
    assert audit.lie_bound == 1.0
    for _ in range(300):
        audit.observe(0.0, lied=False)
    assert audit.lie_bound == pytest.approx(0.01)
    audit.observe(1000.0, lied=True)
    assert not audit.trusted(1000.0 + 89 * 86_400)
    assert audit.trusted(1000.0 + 91 * 86_400)


def test_dates_of_the_making_tell_nothing() -> None:
    now = 1e9
    assert dates_are_generated([now - 60.0 * n for n in range(40)], now, 40)
    assert dates_are_generated([5e8] * 40, now, 40)
    assert not dates_are_generated([5e8] * 40, now, 3)
    assert not dates_are_generated([now - 86_400.0 * n for n in range(1, 60)], now, 60)
    assert not dates_are_generated([now] * 3, now, 3)
