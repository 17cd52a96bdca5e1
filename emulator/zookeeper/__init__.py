"""One ZooKeeper server: the znode tree, sessions and watches, exact in client-visible behaviour."""
