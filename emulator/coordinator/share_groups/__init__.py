"""Share groups at their coordinator (KIP-932): rules and records.

Requests are decided by pure functions of a group's state, and the state is rebuilt from records
alone.
"""
