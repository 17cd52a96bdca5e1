"""The command language and the ``tidegauge`` program: parse text and print results."""
