"""One ZooKeeper server: the znode tree, sessions and watches, exact in what clients can tell."""
