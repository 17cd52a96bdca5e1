"""Every statement of the language, once: a typer command that builds a plain-data input."""
