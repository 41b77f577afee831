"""Real clients, each driven through its public streaming surface over a transport without a network."""
