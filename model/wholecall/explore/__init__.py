"""Explores every state that the machines can reach together, within a stated scope."""
