"""Session files that nobody recorded, and a process with little memory that opens them."""
