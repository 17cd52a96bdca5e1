"""How a broker belongs to a cluster whose metadata is in the log of the controllers' quorum."""
