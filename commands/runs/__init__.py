"""What the commands do, without the command line."""
