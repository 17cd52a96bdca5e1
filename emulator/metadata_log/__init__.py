"""KRaft's metadata: the records of the log, and the image that they add up to. Pure."""
