"""The program's commands: thin functions that read options, import what they need and run it."""
