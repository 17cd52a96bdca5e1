"""A folder whose modules are named like the program's own, and tell when they are imported."""

from pathlib import Path

NAMES = ("commands", "console", "emulator", "sessions", "pyspark", "msgspec", "zipfile", "json")


def make_hostile(folder: Path) -> Path:
    """Write the modules into a new folder; each leaves a trace, and ends what imports it."""
    folder.mkdir()
    for name in NAMES:
        trace = f"open({str(folder / 'ran')!r}, 'a').write({name!r}); raise SystemExit(9)"
        (folder / f"{name}.py").write_text(f"{trace}\n")
    return folder


def traces(folder: Path) -> str:
    """The names of the modules that were imported."""
    ran = folder / "ran"
    return ran.read_text() if ran.exists() else ""
