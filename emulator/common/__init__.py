"""What all floors share: names of topics and partitions, unique ids, and error codes."""
