"""The language of statements: parses text into the emulator's inputs."""
