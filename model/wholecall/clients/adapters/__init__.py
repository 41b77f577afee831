"""One file a client: what of it is driven, and which calls its user then has."""
