"""What a broker does for transactions in its own logs: it verifies them and writes markers."""
