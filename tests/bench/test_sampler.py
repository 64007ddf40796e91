"""The sampler finds the function that uses the time."""

from time import process_time, thread_time

from bench.sampler import COLLECTOR, LOOP, THREADS, Sampler
from nacre.scope.rules.url import pathological


def busy(seconds: float) -> None:
    url = "http://host.test/" + "/".join(f"s{number}" for number in range(4000)) + "/"
    until = process_time() + seconds
    while process_time() < until:
        pathological(url, 2)


def test_the_time_goes_to_the_stage_that_used_it():
    sampler = Sampler()
    began = thread_time()
    sampler.start()
    busy(0.2)
    sampler.stop()
    used = thread_time() - began
    stages = sampler.stages()
    assert max(stages, key=lambda name: stages[name]) == "scope"
    assert stages["scope"] > used / 2
    own, whole = sampler.functions()["scope/rules/url.py pathological"]
    assert own == whole == stages["scope"]
    assert any(name.startswith("scope/rules/url.py pathological:") for name in sampler.lines())


def test_no_time_is_lost_or_made_up():
    sampler = Sampler()
    began = thread_time()
    sampler.start()
    busy(0.1)
    sampler.stop()
    used = thread_time() - began
    stages = sampler.stages()
    assert stages.keys() >= {THREADS, COLLECTOR}
    # But for what came after the last sample.
    assert used - 0.03 < sum(stages.values()) <= used + 0.005
    assert stages.get(LOOP, 0.0) < used / 2


def test_nothing_is_sampled_after_the_end():
    sampler = Sampler()
    sampler.start()
    busy(0.02)
    sampler.stop()
    before = sum(sampler.stacks.values())
    busy(0.05)
    assert sum(sampler.stacks.values()) == before
