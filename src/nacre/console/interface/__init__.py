"""The interface for programs: its description, its guide for people, and its monitoring."""
