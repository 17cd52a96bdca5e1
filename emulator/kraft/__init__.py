"""KRaft: the controllers' processes, and what the committed metadata log says of the cluster."""
