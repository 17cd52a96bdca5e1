"""The version of tidegauge; hatchling reads it here, and the release compares its tag with it."""

from typing import Final

VERSION = "0.1.0"
THIS_PROGRAM: Final = f"tidegauge {VERSION}"
"""What recordings and campaigns say of the program that made them."""
