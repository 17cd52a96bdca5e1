"""Arguments and options shared by the ``sessions`` commands."""

from typing import Annotated

from commands.cli.options import argument, flag

File = Annotated[str, argument("FILE", text="a session file, *.tide.db")]
AsJson = Annotated[bool, flag("--json", text="print JSON")]
