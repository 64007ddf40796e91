"""Configurations of other crawlers become jobs, with a report of what became of each property."""
