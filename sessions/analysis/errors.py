"""What can be wrong with an analysis; each message is one sentence for people."""


class AnalysisError(Exception):
    """An analysis could not be done. ``str()`` is one sentence with the cause."""


class SparkUnavailable(AnalysisError):
    """There is no Spark: no or too old Java, no PySpark, or a master that does not answer."""
