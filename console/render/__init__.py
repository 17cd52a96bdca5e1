"""Plain data to lines of styled text."""
