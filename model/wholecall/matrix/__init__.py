"""What real clients make of streams, beside what the tables say of them."""
