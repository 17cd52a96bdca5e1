"""Virtual time, the network, and copies of plain state."""
