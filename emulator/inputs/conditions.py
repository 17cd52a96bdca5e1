"""The structure of conditions such as ``orders-0.hw >= 3``, as plain data."""

from typing import Final, Literal

from msgspec import Struct

Value = int | str | bool | list[int | str | list[int]] | None
"""The value of a subject, or a value to compare it with."""


class Subject(Struct, frozen=True, array_like=True):
    """The left side of a condition.

    ``kind`` is the kind of object, ``name`` the object, and ``field`` one of its values:

    - ``partition``, ``orders-0``: leader epoch isr osr replicas hw leo lso state under_replicated
      version; in KRaft mode also elr last_known_elr partition_epoch recovery adding removing
    - ``replica``, ``orders-0@2``: leo hw lso log_start role epochs values remote_leo caught_up_ms,
      and its entries in its broker's checkpoint files (-1: none) checkpointed_hw recovery_point
    - ``controller``, empty: broker epoch
    - ``broker``, ``2``: state session; in KRaft mode also fenced in_controlled_shutdown
      registrations
    - ``quorum``, empty: leader epoch; or a controller's or broker's id (``equal``, ``behind``);
      of either also log_start (the start of its metadata log) and snapshot (the end of the latest
      one; -1: none); empty means the leader
    - ``zk``, ``/path``: exists data version children owner watchers (the hosts that watch it)
    - ``producer``, ``p1``: acked failed retries pending
    - ``consumer``, ``c1``: position values partitions
    - ``fault``, ``1``: injected left
    - ``audit``, empty: acked lost duplicated diverged unacked_visible invariants_violated
      consumed_lost
    - ``cluster``, empty: under_replicated offline under_min_isr time
    """

    kind: str
    name: str
    field: str


class Clause(Struct, frozen=True, array_like=True):
    """``left op right``; ``right`` is a value or, with ``right_subject``, that subject's value.

    If ``op`` is ``and``, ``or`` or ``not``, the clause combines ``parts`` (one for ``not``), and
    has no left and right.
    """

    left: Subject
    op: Literal["==", "!=", "<", "<=", ">", ">=", "in", "contains", "and", "or", "not"]
    right: Value = None
    right_subject: Subject | None = None
    text: str = ""
    parts: "list[Clause]" = []

    @property
    def joins(self) -> bool:
        """Whether it combines other clauses."""
        return self.op in ("and", "or", "not")


JOINED: Final = Subject("", "", "")
"""The left side of a combined clause."""
