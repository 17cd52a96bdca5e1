"""How long random runs are looked for: ``pytest tests/emulator --hypothesis-profile=deep``."""

from hypothesis import settings

settings.register_profile("deep", deadline=None, max_examples=1000, stateful_step_count=50)
