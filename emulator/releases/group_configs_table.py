"""Groups' configurations by release, by ``docs/make_broker_configs.py``.

Since and until which release, type, the lowest value (a dash: none), name, and the default after an
equals sign. Names that brokers accept but do not describe end with an exclamation mark. Source:
``GroupConfig`` of each release.
"""

from typing import Final

TABLE: Final = """\
4.3 - INT 0 consumer.assignment.interval.ms =1000
4.4 - BOOLEAN - consumer.assignor.offload.enable! =true
4.0 - INT 1 consumer.heartbeat.interval.ms =5000
4.0 - INT 1 consumer.session.timeout.ms =45000
4.4 - BOOLEAN - errors.deadletterqueue.copy.record.enable =false
4.4 - STRING - errors.deadletterqueue.topic.name =
4.3 - INT 0 share.assignment.interval.ms =1000
4.4 - BOOLEAN - share.assignor.offload.enable! =true
4.0 - STRING - share.auto.offset.reset =latest
4.3 - INT 2 share.delivery.count.limit =5
4.0 - INT 1 share.heartbeat.interval.ms =5000
4.1 - STRING - share.isolation.level =read_uncommitted
4.3 - INT 100 share.partition.max.record.locks =2000
4.0 - INT 1000 share.record.lock.duration.ms =30000
4.3 - BOOLEAN - share.renew.acknowledge.enable =true
4.0 - INT 1 share.session.timeout.ms =45000
4.4 - LONG 0 streams.acceptable.recovery.lag! =10000
4.3 - INT 0 streams.assignment.interval.ms =1000
4.4 - STRING - streams.assignor.name =
4.4 - BOOLEAN - streams.assignor.offload.enable! =true
4.1 - INT 1 streams.heartbeat.interval.ms =5000
4.2 - INT 0 streams.initial.rebalance.delay.ms =3000
4.1 - INT 0 streams.num.standby.replicas =0
4.4 - INT 0 streams.num.warmup.replicas! =2
4.4 - LIST - streams.rack.aware.assignment.tags =
4.1 - INT 1 streams.session.timeout.ms =45000
4.4 - INT 1 streams.task.offset.interval.ms! =60000
"""
