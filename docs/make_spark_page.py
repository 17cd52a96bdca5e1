"""Runs the notebook docs/spark_notebook.py and writes docs/spark.md with what it prints.

``python -m docs.make_spark_page`` needs Java, as Spark does. The notebook is Python in jupytext's
percent format, so an editor or Jupyter (with jupytext) can open it as one.
"""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

from sessions.analysis.session import spark_session

PAGE = Path(__file__).parent / "spark.md"
NOTEBOOK = Path(__file__).parent / "spark_notebook.py"
CELL = re.compile(r"^# %%(?P<kind>.*)\n", re.MULTILINE)
MARKDOWN = " [markdown]"


def page() -> str:
    """Run the notebook's cells in order; return the page with their outputs."""
    _, *parts = CELL.split(NOTEBOOK.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "notebook"}
    shown = []
    for kind, text in zip(parts[::2], parts[1::2], strict=True):
        if kind == MARKDOWN:
            lines = (line.removeprefix("#").removeprefix(" ") for line in text.strip().splitlines())
            shown.append("\n".join(lines))
            continue
        shown.append(f"```python\n{text.strip()}\n```")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(text, str(NOTEBOOK), "exec"), names)
        if output := printed.getvalue().strip():
            shown.append(f"```text\n{output}\n```")
    return "\n\n".join(shown) + "\n"


def main() -> None:
    """Write the page."""
    with spark_session("local[2]"):
        PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
