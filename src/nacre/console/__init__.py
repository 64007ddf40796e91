"""The console: pages and a REST interface to see and steer the jobs of one machine.

It is a separate process that never crawls. Jobs are found in directories, asked over their
sockets, and read from their files; they live on when the console ends. Begin with `routes.py`, the
table of all that can be requested, and `app.py`, which answers by it.

- `parts.py`: the parts of a console, and those that each noun receives; `call.py`: one request.
- A package for each noun, such as `jobs/`: its routes, its handlers for pages and programs, and its
  tasks of reader processes; `templates/`: the pages.
- `reader_tasks.py`: the tasks of the processes that read stores; `logs/`: the log files of jobs.
  Places, schedules, users and keys are in `nacre.fleet`; the checks of a request, the present state
  of jobs and the reader processes in `nacre.web`.
- `openapi.py`: the description of the interface for programs, made from the table.
- `server.py`: the start and end of the process. Its sockets and the languages of pages are in
  `nacre.web`, which other faces use too.
"""
