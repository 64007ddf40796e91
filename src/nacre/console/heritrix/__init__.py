"""Heritrix 3's REST interface: its scripts and clients find the jobs of this machine behind it.

Paths, forms and answers are those of Heritrix 3.15 (commit `5ada2a7`); differences are listed in
`tests/console/heritrix/differences.md`.

- `app.py`: the requests; `certificate.py`: the certificate of its port.
- `model.py` and `xml.py`: the answers (pure); `scripts.py`: scripts that are recognised (pure).
- `actions.py`: build, launch, pause and so on; `files.py`: the files of a job.
"""
