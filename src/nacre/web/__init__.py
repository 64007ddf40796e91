"""Parts of a face over HTTP: decoding, problem details, checks of the sender, versions."""
