"""KRaft: the quorum of controllers, and when it came to be what it is."""

from typing import Final

from emulator.releases.features.base import Feature

QUORUM: Final = (
    Feature(
        "kraft",
        "3.3",
        None,
        "KIP-833",
        "clusters may run without ZooKeeper: a quorum of controllers keeps a log of metadata",
    ),
    Feature(
        "leader_checks_quorum",
        "3.7",
        None,
        "KAFKA-15489",
        "a quorum's leader from which no majority fetches any more resigns",
    ),
    Feature(
        "pre_vote",
        "4.0",
        None,
        "KIP-996",
        "a controller asks whether it would be elected before it begins a new epoch",
    ),
    Feature(
        "metadata_fetch_tells_high_watermark",
        "4.1",
        None,
        "KIP-1166",
        "fetches of the metadata log are answered as soon as the high watermark has risen",
    ),
    Feature(
        "controller_registration",
        "3.7",
        None,
        "KIP-919",
        "controllers register in the metadata log",
    ),
    Feature(
        "features_chosen_at_format",
        "4.0",
        None,
        "KIP-1022",
        "clusters are formatted with levels of each feature that may be chosen",
    ),
)
