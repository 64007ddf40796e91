"""A configuration of some hundred lines, as those of large jobs are: for `bench.console_load`."""


def long_config(lines: int = 500) -> str:
    """Return a sound `crawl.yaml`: rules of the scope, sheets for hosts, and where they apply.

    Args:
        lines: Its lines, about.
    """
    per_section = lines // 12
    text = ["name: large", "seeds: seeds.txt", "scope:", "  - rule: accept"]
    for number in range(per_section):
        text += [
            "  - rule: matches-regex",
            f"    regex: 'https?://(www\\.)?site-{number}\\.example\\.org/(a|b)/[0-9]+.*'",
            f"    decision: {'REJECT' if number % 2 else 'ACCEPT'}  # of site {number}",
        ]
    text += ["sheets:"]
    for number in range(per_section):
        text += [
            f"  host-{number}:",
            "    politeness:",
            f"      delay: {number % 20 + 1}s",
            "      in_flight: 1",
            "      min_delay: 2s",
        ]
    text += ["sheet_associations:"]
    for number in range(per_section):
        text += [
            f"  - sheets: [host-{number}]",
            "    surts:",
            f"      - http://site-{number}.example.org/a/",
            f"      - http://site-{number}.example.org/b/",
        ]
    return "\n".join(text) + "\n"
