"""The controller: the one broker that chooses leaders and tells the others."""
