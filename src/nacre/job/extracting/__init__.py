"""The extraction step, and the helper process for documents that are large."""
