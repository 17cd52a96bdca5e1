"""The command language and the ``tidegauge`` program: where text is parsed and results printed."""
