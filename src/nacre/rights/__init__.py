"""Preferences of sites about the use of their content: parsed, recorded, and looked up. Pure.

- `vocabulary`: the keys of preferences, and how several statements are combined.
- `signals`: a signal, as a site wrote it, with its preferences.
- `usage`: values of `Content-Usage` and `Content-Signal`.
- `robots_lines`, `reply_signals`, `tdmrep`, `ai_txt`, `rsl`: one kind of source each.
- `policy_files`: which URLs are policy files, and their parsers.
- `ledger`: versions of signals over time, and what holds for a URL at a time.

Begin with `ledger`. The engine stores the versions (`engine.rights_book`).
"""
