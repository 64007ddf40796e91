"""Benchmarks: `python -m bench.run`; docs/performance.md describes them."""
