"""KRaft: the controller processes, and the events that follow from committed metadata."""
