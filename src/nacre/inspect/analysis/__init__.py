"""Reports on what the visits of a job have shown.

An analysis (`analysis.py`) computes a struct from `RecrawlData` (`recrawl_data.py`) and makes a
document of it; each is a module. They share `rate_model.py`: the change rates of pages as the
planner estimates them. `page_history.py` answers `nacre history`.
"""
