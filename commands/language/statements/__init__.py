"""The statements of the language: each is a function that builds a plain-data input."""
