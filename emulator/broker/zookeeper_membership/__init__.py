"""How a broker belongs to a cluster whose metadata is in ZooKeeper."""
