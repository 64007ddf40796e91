"""Reports on what the visits of a job have shown.

An analysis (`analysis.py`) computes a struct from `RecrawlData` (`recrawl_data.py`) and makes a
document of it; each has a module of its own. `rate_model.py` is what they share: how often pages
change, as the planner believes. `page_history.py` answers `nacre history`.
"""
