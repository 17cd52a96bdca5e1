"""tidegauge: a terminal operations console for Kafka-style replication.

This package is the way in: :func:`main` is the ``tidegauge`` program, which ``python -m tidegauge``
runs as well. The rooms behind it (``commands``, ``console``, ``sessions``, ``emulator``) have names
that other projects use, too; so before anything of them is imported, :mod:`tidegauge.rooms` looks
whether Python finds ours. Importing this package imports nothing else.
"""

__all__ = ["__version__", "main"]

__version__: str


def main() -> None:
    """Run the program with the shell's arguments and end the process."""
    from tidegauge.rooms import require_rooms

    require_rooms()
    from commands.cli.main import main as run

    run()


def __getattr__(name: str) -> str:
    """``__version__``, which is read from the installed package when it is asked for."""
    if name != "__version__":
        raise AttributeError(f"module 'tidegauge' has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("tidegauge")
    except PackageNotFoundError:
        return "not installed"
