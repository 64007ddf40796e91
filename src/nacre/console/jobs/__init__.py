"""The jobs of a console: their list, overview and labels, actions on them, and new ones."""
