"""``tidegauge mcp``: a cluster that an assistant may break and ask about."""
