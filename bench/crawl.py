"""One crawl of the benchmark, in a separate process: `python -m bench.crawl SPEC`.

SPEC is a JSON file: the job's directory (`out`), its `settings`, and whether to `watch`. Nothing is
measured here, the parent asks the kernel; but when watching, a JSON object is printed with the
event loop's gaps and what the sampler found. The process is set up as `nacre crawl` does it.
"""

import json
import sys
from pathlib import Path
from typing import Any

from nacre.cli import process


def main(spec: dict[str, Any]) -> None:
    """Crawl."""
    process.collect_rarely()
    from bench.watching import watched
    from nacre.job.job import Job
    from nacre.settings.settings import JobSettings

    out = Path(spec["out"])
    out.mkdir(parents=True)
    job = Job(out, JobSettings.model_validate(spec["settings"]))
    if spec["watch"]:
        print(json.dumps(process.run(watched(job))))
    else:
        process.run(job.run())


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
