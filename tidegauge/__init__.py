"""tidegauge: a terminal operations console for Kafka-style replication.

This package is the entry point: :func:`main` is the ``tidegauge`` program, which
``python -m tidegauge`` also runs. The other packages (``commands``, ``console``, ``sessions``,
``emulator``) have names that other projects may use as well; so before importing any of them,
:mod:`tidegauge.rooms` checks that Python finds ours. Importing this package imports nothing else.
"""

__all__ = ["__version__", "main"]

__version__: str


def main() -> None:
    """Run the program with the shell's arguments, then exit the process."""
    from tidegauge.rooms import require_rooms

    require_rooms()
    from commands.cli.main import main as run

    run()


def __getattr__(name: str) -> str:
    """Return ``__version__``, which is imported on access."""
    if name != "__version__":
        raise AttributeError(f"module 'tidegauge' has no attribute {name!r}")
    from tidegauge.rooms import require_rooms

    require_rooms()
    from emulator.common.version import VERSION

    return VERSION
