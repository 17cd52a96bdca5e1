"""Share groups on the leaders of partitions (KIP-932): records in flight, sessions, their state.

What is in flight is decided by pure functions of plain data; the manager reads the log, keeps the
state with the share coordinator, and answers.
"""
