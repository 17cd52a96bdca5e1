"""The emulator: a whole cluster in one process, in virtual time.

It knows nothing of files or screens.
"""
