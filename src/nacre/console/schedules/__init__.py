"""The schedules of a console: when runs begin, as a list and as a calendar."""
