"""The metrics of jobs: names, labels and values in both formats."""

from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open
from prometheus_client.parser import text_string_to_metric_families as read_text

from nacre import __version__
from nacre.job.metrics import JobFigures, exposition, job_registry
from nacre.job.overview import JobOverview

FULL = JobFigures(
    'de"mo\n新闻',
    JobOverview(
        "RUNNING", queued=10, retrying=2, busy=3, parallel=25, succeeded=7, failed=1, documents=5,
        bytes=1000, novel_bytes=600, saved_bytes=400, warc_bytes=900, alerts=1,
        queues={"ready": 4},
    ),
    commit_age=0.25,
    loop_gap=0.05,
    disk_free=1 << 40,
)  # fmt: skip


def samples(text: str, *, is_open: bool = False) -> dict[tuple[str, ...], float]:
    read = read_open if is_open else read_text
    return {
        (
            sample.name,
            *(sample.labels[key] for key in sorted(sample.labels, key="job".__ne__)),
        ): sample.value
        for family in read(text)
        for sample in family.samples
    }


def test_both_formats_have_all_values():
    registry = job_registry(lambda: [FULL, JobFigures("still", JobOverview("ABORTED"))])
    media_type, text = exposition(registry, "")
    assert media_type.startswith("text/plain; version=0.0.4")
    found = samples(text.decode())
    name = FULL.job
    assert found["nacre_build_info", __version__] == 1
    assert found["nacre_job_state", name, "RUNNING"] == 1
    assert found["nacre_job_state", name, "PAUSED"] == 0
    assert found["nacre_job_state", "still", "ABORTED"] == 1
    uris = {key[2]: value for key, value in found.items() if key[:2] == ("nacre_job_uris", name)}
    assert uris == {"queued": 5, "retrying": 2, "in_process": 3, "endless": 0}
    assert found["nacre_job_finished_uris_total", name, "succeeded"] == 7
    assert found["nacre_job_responses_total", name, "document"] == 5
    assert found["nacre_job_stored_bytes_total", name, "revisit"] == 400
    assert found["nacre_job_fetch_slots", name, "idle"] == 22
    assert found["nacre_job_queues", name, "ready"] == 4
    assert found["nacre_job_commit_age_seconds", name] == 0.25
    assert found["nacre_job_disk_free_bytes", name] == 1 << 40
    assert ("nacre_job_disk_free_bytes", "still") not in found
    media_type, text = exposition(registry, "application/openmetrics-text;version=1.0.0")
    assert media_type.startswith("application/openmetrics-text")
    assert samples(text.decode(), is_open=True) == found
