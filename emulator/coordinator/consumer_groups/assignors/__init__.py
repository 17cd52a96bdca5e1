"""The assignors that run in the coordinator: ``uniform`` and ``range``."""
