"""Free memory of a machine, and within the limits of control groups; files stand for the kernel."""

from pathlib import Path

import pytest

from nacre.browser.memory import free_memory

MB = 1 << 20
HUGE = 9_223_372_036_854_771_712
"""What the kernel writes as the limit of a group of version 1 that has none."""


def write(root: Path, files: dict[str, str]) -> Path:
    everything = {"proc/meminfo": f"MemTotal: 1 kB\nMemAvailable: {8000 << 10} kB\n", **files}
    for name, text in everything.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def unified(folder: str, limit: str, usage: int, cached: int = 0) -> dict[str, str]:
    return {
        f"sys/fs/cgroup/{folder}memory.max": f"{limit}\n",
        f"sys/fs/cgroup/{folder}memory.current": f"{usage}\n",
        f"sys/fs/cgroup/{folder}memory.stat": f"anon 1\ninactive_file {cached}\n",
    }


def first(folder: str, limit: int, usage: int, cached: int = 0) -> dict[str, str]:
    return {
        f"sys/fs/cgroup/memory/{folder}memory.limit_in_bytes": f"{limit}\n",
        f"sys/fs/cgroup/memory/{folder}memory.usage_in_bytes": f"{usage}\n",
        f"sys/fs/cgroup/memory/{folder}memory.stat": f"total_inactive_file {cached}\n",
    }


OWN = {"proc/self/cgroup": "0::/a/b\n"}


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, 8000),
        (OWN, 8000),
        (OWN | unified("a/b/", "max", 5 * MB), 8000),
        (OWN | unified("a/b/", str(1000 * MB), 400 * MB), 600),
        (OWN | unified("a/b/", str(1000 * MB), 400 * MB, 300 * MB), 900),
        (OWN | unified("a/b/", str(1000 * MB), 1001 * MB), 0),
        (OWN | unified("a/b/", "max", MB) | unified("a/", str(500 * MB), 200 * MB), 300),
        # A container sees its own group as the root.
        ({"proc/self/cgroup": "0::/\n"} | unified("", str(700 * MB), 0), 700),
        ({"proc/self/cgroup": "0::/docker/x\n"} | unified("", str(700 * MB), 0), 700),
        ({"proc/self/cgroup": "4:cpu,memory:/c\n"} | first("c/", 900 * MB, 100 * MB), 800),
        (
            {"proc/self/cgroup": "4:memory:/c\n0::/\n"} | first("c/", 90 * MB, 50 * MB, 10 * MB),
            50,
        ),
        ({"proc/self/cgroup": "4:memory:/c\n"} | first("c/", HUGE, 100 * MB), 8000),
        (OWN | unified("a/b/", "nonsense", MB), 8000),
    ],
)
def test_limits_of_groups_count(tmp_path: Path, files: dict[str, str], free: int):
    assert free_memory(write(tmp_path, files)) == free * MB


def test_this_machine_has_some():
    assert free_memory() > 0
