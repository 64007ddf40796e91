"""A configuration directory of Nutch becomes a job. Source: reference/nutch.md 1.9, 1.10, 1.17."""
