"""Statements that lead KRaft clusters into known states."""

CLUSTER = "cluster --brokers 3 --controllers 3 --version 4.1"
TOPIC = "topic create orders --partitions 3 --replication-factor 3 --config min.insync.replicas=2"
FENCED = (CLUSTER, TOPIC, "produce orders --value paid --acks all", "broker crash 2", "wait 12s")
"""Broker 2 dies and is fenced: it led orders-2."""
ELIGIBLE = (*FENCED, "broker crash 1", "wait 12s")
"""Broker 1 dies as well: it is eligible in each partition, whose ISR is below the minimum."""
