"""The Raft quorum of the controllers (KIP-595): elections and the replicated metadata log."""
