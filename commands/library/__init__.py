"""The scenarios and scripts that come with the program."""
