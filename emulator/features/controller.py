"""What changed in what the controller does."""

from typing import Final

from emulator.features.base import Feature

CONTROLLER: Final = (
    Feature(
        "isr_order_elects",
        "seed",
        "0.8.1",
        "",
        "the controller elects the first live member in the order of the ISR",
    ),
    Feature(
        "isr_order_on_shutdown",
        "seed",
        "0.9",
        "",
        "who takes over from a broker that goes is the first in the order of the ISR",
        ended_by="KAFKA-3670",
    ),
    Feature(
        "empty_isr_on_unclean",
        "0.8.2",
        "0.11",
        "",
        "the last member leaves the ISR too when unclean election is on",
        ended_by="KAFKA-5083",
    ),
    Feature(
        "checks_running",
        "seed",
        "0.10.2",
        "",
        "a new controller first looks whether its broker is still running",
        ended_by="KAFKA-5028",
    ),
    Feature(
        "running_as_controller",
        "seed",
        "0.10.0",
        "",
        "the controller's broker is in a state of its own, RunningAsController",
    ),
    Feature(
        "controller_handlers",
        "0.11",
        None,
        "KAFKA-5028",
        "the controller works on one event at a time; handlers of znodes take the listeners' place",
    ),
    Feature(
        "leftovers_deleted",
        "1.1",
        None,
        "",
        "a new controller deletes the notifications that were meant for the former one",
    ),
    Feature(
        "metadata_first_on_failover",
        "0.10.2",
        None,
        "KAFKA-4443",
        "a new controller sends UpdateMetadata before its state machines start",
    ),
    Feature(
        "preferred_election_repeats",
        "1.1",
        "2.1",
        "",
        "a preferred election raises the epoch even where the preferred replica leads already",
    ),
    Feature(
        "moves_need_live_replicas",
        "seed",
        "0.9",
        "",
        "a partition moves only to brokers that are alive when the controller is asked",
    ),
    Feature(
        "unreadable_election_stays",
        "seed",
        "0.11",
        "",
        "what cannot be read in /admin/preferred_replica_election is left there",
        ended_by="KAFKA-5642",
    ),
    Feature(
        "reassignment_data_watched",
        "seed",
        "0.11",
        "",
        "any change of /admin/reassign_partitions is noticed, not only that it is made",
        ended_by="KAFKA-5642",
    ),
    Feature(
        "unclean_config_elects",
        "2.1",
        None,
        "KAFKA-6835",
        "turning unclean election on for a topic elects for its offline partitions at once",
    ),
    Feature(
        "controller_multi",
        "2.1",
        None,
        "KAFKA-6082",
        "election is one multi; each controller write checks /controller_epoch",
    ),
    Feature(
        "broker_epochs", "2.2", None, "KIP-380", "requests carry the broker's registration epoch"
    ),
    Feature(
        "cancel_reassignment",
        "2.4",
        None,
        "KIP-455",
        "a reassignment names what it adds and removes, and can be taken back",
    ),
    Feature(
        "elect_leaders",
        "2.4",
        None,
        "KIP-460",
        "administrators can ask for an election of any kind, unclean ones too",
    ),
    Feature(
        "deletion_retry_leaves_isr",
        "2.4",
        None,
        "",
        "a deletion that is tried again takes dead replicas offline anew, which costs an epoch",
    ),
    Feature(
        "dead_leave_isr_at_failover",
        "2.4",
        None,
        "KAFKA-3143",
        "a new controller takes replicas on dead brokers out of the ISR",
    ),
)
