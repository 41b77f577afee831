"""A turn: whole responses are checked, and what they ask for is run once and recorded."""
