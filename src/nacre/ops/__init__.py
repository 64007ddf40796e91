"""The operations on jobs, a module for each noun: what every face offers, declared once."""
