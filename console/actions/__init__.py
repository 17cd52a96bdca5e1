"""Everything a key or a click can do, in one table."""
