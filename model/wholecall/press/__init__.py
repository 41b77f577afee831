"""The press: pure functions from the specification to text. It imports the specification and nothing else."""
