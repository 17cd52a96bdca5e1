"""The language of statements: from text to what the emulator is asked."""
