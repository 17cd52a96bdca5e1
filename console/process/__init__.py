"""The console as a process: a watchdog that ends it when it is stuck, and its terminal."""
