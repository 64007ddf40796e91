"""Simple schedules in place of the planner: fixed, calendar, Nutch's, Heritrix's."""
