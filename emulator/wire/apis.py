"""Every supported API, as the files of its messages declare it: key, messages, versions."""

from typing import Final

from emulator.wire.messages import (
    alter_configs,
    cluster,
    committed_offsets,
    configs,
    consumer_groups,
    coordinator,
    features,
    fetch,
    groups,
    log_dirs,
    membership,
    offsets,
    partitions,
    produce,
    quorum,
    sasl,
    security,
    share_groups,
    topics,
    transaction_states,
    transactions,
)

_MESSAGES: Final = (
    alter_configs,
    cluster,
    committed_offsets,
    configs,
    consumer_groups,
    coordinator,
    features,
    fetch,
    groups,
    log_dirs,
    membership,
    offsets,
    partitions,
    produce,
    quorum,
    sasl,
    security,
    share_groups,
    topics,
    transaction_states,
    transactions,
)
_ALL: Final = [api for messages in _MESSAGES for api in messages.APIS]
APIS: Final = {api.key: api for api in sorted(_ALL, key=lambda api: api.key)}
"""Every API by key, in the order of the keys."""
API_NAMED: Final = {api.name: api for api in APIS.values()}
"""Every API by name."""
