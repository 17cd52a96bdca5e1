"""Every supported API, as the files of its messages declare it: key, messages, versions."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from emulator.wire import messages
from emulator.wire.types import Api

_ALL: Final[list[Api]] = [
    api
    for module in iter_modules(messages.__path__, f"{messages.__name__}.")
    for api in import_module(module.name).APIS
]
APIS: Final = {api.key: api for api in sorted(_ALL, key=lambda api: api.key)}
"""Every API by key, in the order of the keys."""
API_NAMED: Final = {api.name: api for api in APIS.values()}
"""Every API by name."""
