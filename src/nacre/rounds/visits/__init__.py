"""The part of a job that fetches a unit of batch rounds: a list in place of its seeds.

`session_unit.py` gives the list to the sessions of a job, `unit_visits.py` records the facts of
their visits, `unit_replay.py` makes facts of captures without fetching them again;
`page_content.py` and `page_links.py` have the parts of a fact.
"""
