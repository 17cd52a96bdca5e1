"""How events become the read model: a function for each type of event, all in one table."""
