"""What happens to a cluster when brokers, racks or controllers fail: rehearsed, case by case."""
