"""A recording as one HTML file that steps through it, without this program or a network."""
