"""The print: what the press made of the tables. Never edited; `wholecall build` writes it."""
