"""Answers for programs: a module for each noun, with its structs and its handlers."""
