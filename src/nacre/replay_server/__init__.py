"""The replay server: shows archived pages in a browser, on separate origins.

The viewer is at `replay.localhost`, and the pages of each job at an origin below it, so that they
reach neither the console nor the pages of other jobs. Begin with `app.py`, which answers requests.

- `sites.py`: the origins and the paths of replay; `access.py`: tickets and sessions. Both are pure.
- `shelf.py`: the jobs, collections and files that are shown.
- `answers.py`: archived exchanges as answers; `content.py`: the origins of pages; `viewer.py`: the
  page around them; `programs.py`: Memento, CDX and raw downloads; `worker_scripts.py`: what the
  scripts of workers begin with.
- `server.py`: start and end; `beside.py`: replay beside a console. `static/` has the service worker
  and the scripts of the pages.
"""
