"""Consumer groups of the new protocol (KIP-848): the coordinator assigns partitions.

Pure state machines: a request and the group's state give records and a response; records applied to
the state give the next one, also when the coordinator loads its log.
"""
