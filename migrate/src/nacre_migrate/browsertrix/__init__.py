"""The migration of a configuration of Browsertrix Crawler, a YAML file or JSON.

- `options.py`: the options that are one setting or none, by the table `options.toml`.
- `pages.py`: seeds, and the scope that their options make.
- `convert.py`: from file to draft and report.

The names of options are those of the documentation of Browsertrix Crawler 1.x (2026).
"""
