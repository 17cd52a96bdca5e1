"""What the commands print: tables, progress, errors."""
