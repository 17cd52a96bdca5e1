"""The scenarios and scripts shipped with the program."""
