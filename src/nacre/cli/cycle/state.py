"""The state of a batch crawl as `nacre status` shows it."""

from typing import Any

from nacre.cli import output


def rounds_lines(facts: dict[str, Any], place: str) -> list[str]:
    """The same for people.

    Args:
        facts: The state of the crawl, as `ops.status.rounds_facts` returns it.
        place: The directory, as it is typed.
    """
    from nacre.job.diagnosis import rounds_diagnosis
    from nacre.job.diagnosis_text import diagnosis_text, progress_text
    from nacre.report.formatting import time_text

    lines = [diagnosis_text(rounds_diagnosis(facts))]
    if facts["version"]:
        lines.append(f"  version     {facts['version']}, of {time_text(facts['clock'])}")
    if facts["segments"]:
        states = (f"{number:,} {state}" for state, number in sorted(facts["segments"].items()))
        lines.append(f"  segments    {', '.join(states)}")
    if facts["at"]:
        lines.append(f"  round       {facts['round']}, at {facts['at']}")
    if facts["progress"] and facts["progress"]["step"] == facts["at"]:
        progress = facts["progress"]
        lines.append(f"  step        {progress['step']}: {progress_text(progress)}")
    command = f"{output.program()} cycle {place}"
    return [
        *lines,
        f"Look:  {command} readdb --stats",
        f"Go on: {command} --rounds {facts['rounds'] if facts['at'] else 1}",
    ]
