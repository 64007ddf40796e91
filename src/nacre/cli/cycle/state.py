"""The state of a batch crawl as `nacre status` shows it."""

from typing import Any

from nacre.cli import output


def rounds_lines(found: dict[str, Any], place: str) -> list[str]:
    """The same for people.

    Args:
        found: What `rounds_status` returned.
        place: The directory, as it is typed.
    """
    from nacre.cli.cycle.texts import time_text
    from nacre.job.diagnosis import rounds_diagnosis
    from nacre.job.diagnosis_text import diagnosis_text, progress_text

    lines = [diagnosis_text(rounds_diagnosis(found))]
    if found["version"]:
        lines.append(f"  version     {found['version']}, of {time_text(found['clock'])}")
    if found["segments"]:
        states = (f"{number:,} {state}" for state, number in sorted(found["segments"].items()))
        lines.append(f"  segments    {', '.join(states)}")
    if found["at"]:
        lines.append(f"  round       {found['round']}, at {found['at']}")
    if found["progress"] and found["progress"]["step"] == found["at"]:
        progress = found["progress"]
        lines.append(f"  step        {progress['step']}: {progress_text(progress)}")
    command = f"{output.program()} cycle {place}"
    return [
        *lines,
        f"Look:  {command} readdb --stats",
        f"Go on: {command} --rounds {found['rounds'] if found['at'] else 1}",
    ]
