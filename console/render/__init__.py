"""Rendering of plain data as lines of styled text."""
