"""The group coordinator and the transaction coordinator, which run on partition leaders."""
