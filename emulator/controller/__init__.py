"""The controller: the broker that elects partition leaders and manages cluster metadata."""
