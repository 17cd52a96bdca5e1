"""Recording a run into a session file."""
