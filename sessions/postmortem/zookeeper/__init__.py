"""A cluster's history with ZooKeeper: every change of every znode, with wall-clock times.

ZooKeeper's transaction log is for such a cluster what ``__cluster_metadata`` is for one in KRaft
mode. ``log_copies`` finds and merges the logs of an ensemble, ``znode_tree`` applies them,
``records`` says what changed in KRaft's records, as a migration would, so that the timeline and the
report are the same, ``events`` tells it as an emulated cluster does, and ``examination`` drives
these in one pass.
"""
