"""Options of the commands that run on Spark: ``analyze`` and ``campaign``."""

from collections.abc import Sequence
from typing import Annotated

from commands.cli.options import option
from commands.exits import CommandError, ExitCode
from commands.language.values import Setting
from sessions.grammar.words import BadWord


def spark_setting(word: str) -> Setting:
    """Parse a Spark setting.

    Raises:
        BadWord: it is not a Spark setting.
    """
    name, separator, value = word.partition("=")
    if not separator or not name.startswith("spark."):
        raise BadWord(f"{word!r} is not a setting of Spark: spark.NAME=VALUE")
    return Setting(name, value)


Master = Annotated[
    str | None,
    option("--master", metavar="URL", text="URL of a Spark master", default="this machine"),
]
Remote = Annotated[
    str | None,
    option("--remote", metavar="URL", text="URL of a Spark Connect server, sc://HOST:PORT"),
]
SparkConf = Annotated[
    list[Setting] | None,
    option(
        "--conf", metavar="K=V", parse=spark_setting, text="set a Spark property; may be repeated"
    ),
]


def spark_conf(settings: Sequence[Setting] | None) -> dict[str, str]:
    """Return the settings by name; the last one given wins."""
    return {setting.name: setting.value for setting in settings or ()}


def require_one(command: str, master: str | None, remote: str | None) -> None:
    """Raise :class:`CommandError` if both are given."""
    if master and remote:
        message = f"'tidegauge {command}' takes --master or --remote, not both"
        raise CommandError(ExitCode.USAGE, message)
