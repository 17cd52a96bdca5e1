"""The report of an analysis: one HTML file that needs nothing else, drawn from its results."""
