"""The rows of the dataset's tables, one file per table."""
