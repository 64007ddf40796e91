"""URIs that enter a frontier from outside, and edits of it by the operator."""
