"""Implementation of the commands, independent of the command line."""
