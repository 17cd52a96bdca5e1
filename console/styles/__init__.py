"""Themes, colours, glyphs and the style sheet."""
