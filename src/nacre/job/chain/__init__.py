"""The chains: lists of processors that a configuration can change."""
