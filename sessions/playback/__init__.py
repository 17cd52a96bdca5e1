"""What is done with a finished recording: replay, verify, compare, trim."""
