"""Every statement of the language, once: a function that builds a plain-data input."""
