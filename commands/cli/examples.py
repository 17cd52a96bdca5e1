"""Examples at the end of a command's help."""


def examples(*lines: str) -> str:
    """Return the lines as an epilog that help prints verbatim."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines), ""))
