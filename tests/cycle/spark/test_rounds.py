"""Rounds on a cluster: the rows of the local engine, whoever is killed, and nothing twice."""

import json
import os
import subprocess
import sys
import threading
from collections import Counter

import pytest

from tests.cycle.spark.cluster import (
    ROOT,
    SETTINGS,
    below,
    kill,
    wait_for,
)
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.spark

HOSTS = [f"127.0.0.{number}" for number in range(81, 89)]
PAGES = int(os.environ.get("NACRE_SPARK_PAGES", "4"))
"""Pages of a host."""
ROUNDS = 3


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A site on eight hosts: each page links to the next ones of its host, and to another host."""
    folder = tmp_path_factory.mktemp("web")
    port = free_port(HOSTS)
    for number, host in enumerate(HOSTS):
        root = folder / host
        root.mkdir()
        other = f"http://{HOSTS[(number + 1) % len(HOSTS)]}:{port}"
        for page in range(PAGES):
            links = "".join(f'<a href="{n}.html">国 {n}</a>' for n in range(PAGES))
            text = f"{host} {page} " * 200
            (root / f"{page}.html").write_text(
                f"<title>{page}</title><p>{text}{links}<a href='{other}/{page}.html'>o</a>"
            )
        (root / "index.html").write_text('<a href="0.html">0</a>')
        (root / "robots.txt").write_text("")
    servers = [Server(host, port, folder / host) for host in HOSTS]
    with serving(servers, folder / "nginx", log=True) as nginx:
        yield port, nginx


@pytest.fixture(scope="module")
def configuration(cluster, tmp_path_factory):
    """The environment of a driver."""
    folder = tmp_path_factory.mktemp("conf")
    settings = {**SETTINGS, "spark.executorEnv.PYTHONPATH": cluster.env["PYTHONPATH"]}
    lines = [f"{name} {value}" for name, value in settings.items()]
    (folder / "spark-defaults.conf").write_text("\n".join(lines))
    return {**cluster.env, "SPARK_CONF_DIR": str(folder)}


def rounds(directory, port, *more, rounds=ROUNDS):
    seeds = [part for host in HOSTS for part in ("-s", f"http://{host}:{port}/")]
    options = ["--rounds", str(rounds), "--top", "2000", "--units", "4", "--delay", "0"]
    options += ["--allow-net", "127.0.0.0/8"]
    first = [] if (directory / "crawl.yaml").exists() else seeds
    begin = options if first else options[:6]
    return [sys.executable, "-m", "nacre", "cycle", str(directory), *first, *begin, *more]


def run(command, env, seconds=600):
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=seconds, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done


def asked(directory, env, *words):
    command = [sys.executable, "-m", "nacre", "cycle", str(directory), *words, "--json"]
    return json.loads(run(command, env).stdout)


def result(directory, env):
    """What must be equal: the hash of all rows, without times."""
    found = asked(directory, env, "hash", "--facts")
    return found["sha256"]


def captured(directory):
    """How often each page is in the archive, by the index; each unit asks for robots.txt anew."""
    found: Counter[str] = Counter()
    for path in directory.glob("cycle/archive/*.cdxj"):
        for line in path.read_text().splitlines():
            if line.startswith(("!", "#")):
                continue
            url = json.loads(line.split(" ", 2)[2])["url"]
            found[url] += url.endswith(".html")
    return +found


@pytest.fixture(scope="module")
def local(web, configuration, tmp_path_factory):
    """The same rounds on this machine, and what they knew in the end."""
    directory = tmp_path_factory.mktemp("local") / "c"
    run(rounds(directory, web[0]), configuration)
    pages = captured(directory)
    assert set(pages.values()) == {1}
    assert len(pages) == len(HOSTS) * PAGES
    return directory, result(directory, configuration), pages


def spark(cluster):
    return "--engine", "spark", "--master", cluster.master


def test_rounds_on_a_cluster_know_what_local_ones_know(
    web, configuration, cluster, local, tmp_path
):
    run(rounds(tmp_path / "c", web[0], *spark(cluster)), configuration)
    assert result(tmp_path / "c", configuration) == local[1]
    assert captured(tmp_path / "c") == local[2]
    assert asked(tmp_path / "c", configuration, "storage", "check")["damaged"] == []


def test_an_executor_is_killed_while_it_fetches(web, configuration, cluster, local, tmp_path):
    directory = tmp_path / "c"
    known = set(cluster.executors())

    def kill_one():
        wait_for(lambda: list(directory.glob("cycle/segments/*/units/*/attempt-1")), "a unit")
        fresh = wait_for(lambda: [pid for pid in cluster.executors() if pid not in known], "JVMs")
        kill(fresh[0])

    killer = threading.Thread(target=kill_one)
    killer.start()
    run(rounds(directory, web[0], *spark(cluster)), configuration)
    killer.join()
    assert result(directory, configuration) == local[1]
    assert captured(directory) == local[2]


@pytest.mark.slow
def test_the_driver_is_killed_and_run_again(web, configuration, cluster, local, tmp_path):
    directory = tmp_path / "c"
    command = rounds(directory, web[0], *spark(cluster))
    driver = subprocess.Popen(
        command, env=configuration, cwd=ROOT, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_for(lambda: len(list(directory.glob("cycle/segments/*/units/*/attempt-1"))) > 2, "units")
    for pid in [driver.pid, *below(driver.pid)]:
        kill(pid)
    driver.wait()
    done = len([1 for path in directory.glob("cycle/versions/*.json")])
    assert done
    run(rounds(directory, web[0], *spark(cluster)), configuration)
    assert captured(directory) == local[2]
    assert result(directory, configuration) == local[1]


@pytest.mark.slow
def test_a_worker_is_killed(web, configuration, cluster, local, tmp_path):
    directory = tmp_path / "c"
    number = len(cluster.workers) + 1

    def kill_one():
        wait_for(lambda: list(directory.glob("cycle/segments/*/parts/*/*.json")), "a part")
        worker = cluster.workers.pop(0)
        for pid in [*below(worker.pid), worker.pid]:
            kill(pid)
        cluster.add_workers(number)

    killer = threading.Thread(target=kill_one)
    killer.start()
    run(rounds(directory, web[0], *spark(cluster)), configuration)
    killer.join()
    assert result(directory, configuration) == local[1]
    assert captured(directory) == local[2]
