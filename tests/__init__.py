"""The tests; they mirror the rooms of the program."""
