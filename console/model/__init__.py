"""The console's models: plain data without widgets."""
