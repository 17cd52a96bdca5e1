"""KRaft's metadata: the records of the log, and the image built from them. Pure."""
