"""Topics' configurations by release, by ``docs/make_broker_configs.py``.

Since and until which release, type, the broker's configuration that has the default (a dash: none),
name, and the default after an equals sign. Source: ``LogConfig`` of each release.
"""

from typing import Final

TABLE: Final = """\
0.11 - LIST log.cleanup.policy cleanup.policy =delete
3.8 - INT compression.gzip.level compression.gzip.level =-1
3.8 - INT compression.lz4.level compression.lz4.level =9
0.11 - STRING compression.type compression.type =producer
3.8 - INT compression.zstd.level compression.zstd.level =3
0.11 - LONG log.cleaner.delete.retention.ms delete.retention.ms =86400000
4.4 - BOOLEAN - errors.deadletterqueue.group.enable =false
0.11 - LONG log.segment.delete.delay.ms file.delete.delay.ms =60000
0.11 - LONG log.flush.interval.messages flush.messages =9223372036854775807
0.11 - LONG log.flush.interval.ms flush.ms =9223372036854775807
0.11 - LIST - follower.replication.throttled.replicas =
0.11 - INT log.index.interval.bytes index.interval.bytes =4096
0.11 - LIST - leader.replication.throttled.replicas =
3.6 - LONG log.local.retention.bytes local.retention.bytes =-2
3.6 - LONG log.local.retention.ms local.retention.ms =-2
2.3 - LONG log.cleaner.max.compaction.lag.ms max.compaction.lag.ms =9223372036854775807
4.4 - INT max.decompressed.message.bytes max.decompressed.message.bytes =2147483639
0.11 2.7 INT message.max.bytes max.message.bytes =1000012
2.8 - INT message.max.bytes max.message.bytes =1048588
2.0 3.9 BOOLEAN log.message.downconversion.enable message.downconversion.enable =true
0.11 0.11 STRING log.message.format.version message.format.version =0.11.0-IV2
1.0 1.0 STRING log.message.format.version message.format.version =1.0-IV0
1.1 1.1 STRING log.message.format.version message.format.version =1.1-IV0
2.0 2.0 STRING log.message.format.version message.format.version =2.0-IV1
2.1 2.1 STRING log.message.format.version message.format.version =2.1-IV2
2.2 2.2 STRING log.message.format.version message.format.version =2.2-IV1
2.3 2.3 STRING log.message.format.version message.format.version =2.3-IV1
2.4 2.7 STRING log.message.format.version message.format.version =2.4-IV1
2.8 3.2 STRING log.message.format.version message.format.version =2.8-IV1
3.3 3.9 STRING log.message.format.version message.format.version =3.0-IV1
3.6 3.9 LONG log.message.timestamp.after.max.ms message.timestamp.after.max.ms =9223372036854775807
4.0 - LONG log.message.timestamp.after.max.ms message.timestamp.after.max.ms =3600000
3.6 - LONG log.message.timestamp.before.max.ms message.timestamp.before.max.ms =9223372036854775807
0.11 3.9 LONG log.message.timestamp.difference.max.ms message.timestamp.difference.max.ms =9223372036854775807
0.11 - STRING log.message.timestamp.type message.timestamp.type =CreateTime
0.11 - DOUBLE log.cleaner.min.cleanable.ratio min.cleanable.dirty.ratio =0.5
0.11 - LONG log.cleaner.min.compaction.lag.ms min.compaction.lag.ms =0
0.11 - INT min.insync.replicas min.insync.replicas =1
0.11 - BOOLEAN log.preallocate preallocate =false
4.4 - LONG log.remote.copy.lag.bytes remote.copy.lag.bytes =-1
4.4 - LONG log.remote.copy.lag.ms remote.copy.lag.ms =0
3.9 - BOOLEAN - remote.log.copy.disable =false
3.9 - BOOLEAN - remote.log.delete.on.disable =false
3.6 - BOOLEAN - remote.storage.enable =false
0.11 - LONG log.retention.bytes retention.bytes =-1
0.11 - LONG log.retention.ms retention.ms =604800000
0.11 - INT log.segment.bytes segment.bytes =1073741824
0.11 - INT log.index.size.max.bytes segment.index.bytes =10485760
0.11 - LONG log.roll.jitter.ms segment.jitter.ms =0
0.11 - LONG log.roll.ms segment.ms =604800000
0.11 - BOOLEAN unclean.leader.election.enable unclean.leader.election.enable =false
"""
