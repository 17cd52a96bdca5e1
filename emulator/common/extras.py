"""Extras of the distribution: packages that a plain installation does not bring."""


def missing_extra(what: str, package: str, extra: str) -> str:
    """``exporting needs PyArrow; install it with: pip install 'tidegauge[spark]'``."""
    return f"{what} needs {package}; install it with: pip install 'tidegauge[{extra}]'"
