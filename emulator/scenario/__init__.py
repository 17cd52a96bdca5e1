"""User actions on a cluster: statements, conditions, faults, administration."""
