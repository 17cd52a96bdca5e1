"""What people do to a cluster: statements, conditions, faults, administration."""
