"""A running cluster that is looked at again and again: what it says, and what has changed."""
