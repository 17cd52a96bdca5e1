"""A cluster's history with ZooKeeper: every change of every znode, with wall-clock times.

ZooKeeper's transaction log is for such a cluster what ``__cluster_metadata`` is for one in KRaft
mode. :mod:`sessions.own_cluster.zookeeper_history` merges the logs of an ensemble and applies them,
``records`` says what changed in KRaft's records, as a migration would, so that the timeline and the
report are the same, ``events`` tells it as an emulated cluster does, and ``examination`` drives
these in one pass.
"""
