"""What the console shows, as plain data."""
