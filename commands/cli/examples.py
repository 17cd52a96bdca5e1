"""Examples below a command's help."""


def examples(*lines: str) -> str:
    """The lines as an epilog that help prints as they are."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines), ""))
