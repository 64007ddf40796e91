"""Visiting again: the planner in a job, what a visit teaches it, what is known of pages."""
