"""Fuzzing from the table: Hypothesis machines that the press fills with rows. Needs `wholecall[fuzz]`."""
