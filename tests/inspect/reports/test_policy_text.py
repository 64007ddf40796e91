from nacre.frontier.bandwidth import BandwidthLimits
from nacre.inspect.reports.policy_text import policy_lines
from nacre.settings.settings import JobSettings


def test_defaults() -> None:
    assert list(policy_lines(JobSettings(), BandwidthLimits())) == [
        "queues by surt-authority; their precedence: base; that of URIs: cost",
        "cost unit; a queue may spend 3,000 a turn, no limit in all",
    ]


def test_what_was_set() -> None:
    settings = JobSettings.model_validate(
        {
            "frontier": {
                "queue_assignment": {"policy": "ip", "parallel_queues": 3},
                "queue_total_budget": 5000,
            },
            "quotas": {"domain": {"responses": 2100}},
        }
    )
    lines = list(policy_lines(settings, BandwidthLimits(total=1000)))
    assert lines[0].startswith("queues by ip, each split into 3;")
    assert lines[1].endswith("5,000 in all")
    assert lines[2] == "quotas: domain.responses 2,100"
    assert lines[3].startswith("bandwidth, outside of all windows: total 1,000 B/s")
