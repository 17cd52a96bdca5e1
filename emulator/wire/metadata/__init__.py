"""The records of ``__cluster_metadata`` as bytes: values, control records, logs and snapshots."""
