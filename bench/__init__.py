"""How fast is it? `python -m bench.run`; docs/performance.md says what and how."""
