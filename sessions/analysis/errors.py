"""Errors of an analysis; each message is one sentence."""


class AnalysisError(Exception):
    """An analysis failed. ``str()`` is one sentence with the cause."""


class SparkUnavailable(AnalysisError):
    """Spark is unavailable: no Java or too old, no PySpark, or a master that does not respond."""
