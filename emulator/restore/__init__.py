"""What the disks of a cluster hold that starts from an image: logs, the metadata log or znodes."""
