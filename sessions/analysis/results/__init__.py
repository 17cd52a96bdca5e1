"""The tables that the jobs write, declared: what programs that read the results may count on."""
