"""A real cluster's own history: read, recorded as a session, checked against the rules, told.

``log_files`` finds the metadata logs in what is given, ``merging`` makes one history of the copies
of several nodes, ``transactions`` leaves out what was aborted. ``events`` turns its batches into
the events that an emulated cluster emits, ``session`` records them, ``timeline`` collects what
people ask for, and ``incident`` drives all of these in one pass. ``document`` and ``report`` write
the result.

Two inputs are optional, and attached in ``incident``: the rules of the release
(:mod:`emulator.quorum_controller.explanation`), which explain a batch or say that nothing does, and
the text logs (``text_logs``), whose lines become events and causes of events.
"""
