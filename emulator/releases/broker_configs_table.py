"""Brokers' configurations by release, made by ``docs/make_broker_configs.py``.

Since and until which release, type, update mode (KIP-226), name, and the default after an equals
sign if there is one. Source: ``KafkaConfig.configDef`` and ``DynamicBrokerConfig`` of each release.
"""

from typing import Final

TABLE: Final = """\
4.0 - INT read-only add.partitions.to.txn.retry.backoff.max.ms =100
4.0 - INT read-only add.partitions.to.txn.retry.backoff.ms =20
0.11 2.8 STRING read-only advertised.host.name
0.11 1.0 STRING read-only advertised.listeners
1.1 3.9 STRING per-broker advertised.listeners
4.0 4.1 STRING read-only advertised.listeners
4.2 - LIST read-only advertised.listeners
0.11 2.8 INT read-only advertised.port
0.11 - CLASS read-only alter.config.policy.class.name
3.9 3.9 BOOLEAN read-only alter.config.policy.kraft.compatibility.enable =false
1.1 - INT read-only alter.log.dirs.replication.quota.window.num =11
1.1 - INT read-only alter.log.dirs.replication.quota.window.size.seconds =1
0.11 - STRING read-only authorizer.class.name =
0.11 - BOOLEAN read-only auto.create.topics.enable =true
3.4 3.9 BOOLEAN read-only auto.include.jmx.reporter =true
0.11 - BOOLEAN read-only auto.leader.rebalance.enable =true
0.11 1.0 INT read-only background.threads =10
1.1 - INT cluster-wide background.threads =10
3.0 - INT read-only broker.heartbeat.interval.ms =2000
0.11 - INT read-only broker.id =-1
0.11 3.9 BOOLEAN read-only broker.id.generation.enable =true
0.11 - STRING read-only broker.rack
3.0 - INT read-only broker.session.timeout.ms =9000
2.0 - CLASS read-only client.quota.callback.class
3.8 - INT cluster-wide compression.gzip.level =-1
3.8 - INT cluster-wide compression.lz4.level =9
0.11 1.0 STRING read-only compression.type =producer
1.1 - STRING cluster-wide compression.type =producer
3.8 - INT cluster-wide compression.zstd.level =3
4.2 - LIST cluster-wide config.providers =
2.1 - INT read-only connection.failed.authentication.delay.ms =100
0.11 - LONG read-only connections.max.idle.ms =600000
2.2 - LONG read-only connections.max.reauth.ms =0
2.2 3.9 STRING read-only control.plane.listener.name
0.11 - BOOLEAN read-only controlled.shutdown.enable =true
0.11 3.9 INT read-only controlled.shutdown.max.retries =3
0.11 3.9 LONG read-only controlled.shutdown.retry.backoff.ms =5000
3.0 4.1 STRING read-only controller.listener.names
4.2 - LIST read-only controller.listener.names
3.0 - INT read-only controller.quorum.append.linger.ms =25
4.2 - BOOLEAN read-only controller.quorum.auto.join.enable =false
3.9 - LIST read-only controller.quorum.bootstrap.servers =
3.0 - INT read-only controller.quorum.election.backoff.max.ms =1000
3.0 - INT read-only controller.quorum.election.timeout.ms =1000
4.3 - INT read-only controller.quorum.fetch.max.bytes =1048576
4.3 - INT read-only controller.quorum.fetch.snapshot.max.bytes =1048576
3.0 - INT read-only controller.quorum.fetch.timeout.ms =2000
3.0 - INT read-only controller.quorum.request.timeout.ms =2000
3.0 - INT read-only controller.quorum.retry.backoff.ms =20
3.0 - LIST read-only controller.quorum.voters =
2.7 - INT read-only controller.quota.window.num =11
2.7 - INT read-only controller.quota.window.size.seconds =1
0.11 - INT read-only controller.socket.timeout.ms =30000
4.3 - LIST per-broker cordoned.log.dirs =
0.11 - CLASS read-only create.topic.policy.class.name
0.11 - INT read-only default.replication.factor =1
1.1 - LONG read-only delegation.token.expiry.check.interval.ms =3600000
1.1 - LONG read-only delegation.token.expiry.time.ms =86400000
1.1 3.9 PASSWORD read-only delegation.token.master.key
1.1 - LONG read-only delegation.token.max.lifetime.ms =604800000
2.8 - PASSWORD read-only delegation.token.secret.key
0.11 - INT read-only delete.records.purgatory.purge.interval.requests =1
0.11 0.11 BOOLEAN read-only delete.topic.enable =false
1.0 - BOOLEAN read-only delete.topic.enable =true
3.3 4.1 STRING read-only early.start.listeners
4.2 - LIST read-only early.start.listeners
3.7 3.9 BOOLEAN read-only eligible.leader.replicas.enable =false
4.4 - BOOLEAN cluster-wide errors.deadletterqueue.auto.create.topics.enable =false
4.4 - STRING cluster-wide errors.deadletterqueue.topic.name.prefix =dlq.
2.5 - INT read-only fetch.max.bytes =57671680
0.11 - INT read-only fetch.purgatory.purge.interval.requests =1000
4.3 - BOOLEAN cluster-wide follower.fetch.last.tiered.offset.enable =false
4.3 - INT cluster-wide group.consumer.assignment.interval.ms =1000
3.7 3.9 LIST read-only group.consumer.assignors =org.apache.kafka.coordinator.group.assignor.UniformAssignor,org.apache.kafka.coordinator.group.assignor.RangeAssignor
4.0 - LIST read-only group.consumer.assignors =uniform,range
3.7 - INT read-only group.consumer.heartbeat.interval.ms =5000
4.3 - INT read-only group.consumer.max.assignment.interval.ms =15000
3.7 - INT read-only group.consumer.max.heartbeat.interval.ms =15000
3.7 - INT read-only group.consumer.max.session.timeout.ms =60000
3.7 - INT read-only group.consumer.max.size =2147483647
3.8 3.8 STRING read-only group.consumer.migration.policy =disabled
4.0 - STRING read-only group.consumer.migration.policy =bidirectional
4.3 - INT read-only group.consumer.min.assignment.interval.ms =0
3.7 - INT read-only group.consumer.min.heartbeat.interval.ms =5000
3.7 - INT read-only group.consumer.min.session.timeout.ms =45000
3.7 - INT read-only group.consumer.session.timeout.ms =45000
3.8 3.9 INT read-only group.coordinator.append.linger.ms =10
4.0 4.1 INT read-only group.coordinator.append.linger.ms =5
4.2 - INT read-only group.coordinator.append.linger.ms =-1
4.3 - INT read-only group.coordinator.background.threads =2
4.3 - INT cluster-wide group.coordinator.cached.buffer.max.bytes =1048588
3.7 3.9 LIST read-only group.coordinator.rebalance.protocols =classic
4.0 4.0 LIST read-only group.coordinator.rebalance.protocols =classic,consumer
4.1 - LIST read-only group.coordinator.rebalance.protocols =classic,consumer,streams
3.7 3.9 INT read-only group.coordinator.threads =1
4.0 - INT read-only group.coordinator.threads =4
0.11 - INT read-only group.initial.rebalance.delay.ms =3000
0.11 2.2 INT read-only group.max.session.timeout.ms =300000
2.3 - INT read-only group.max.session.timeout.ms =1800000
2.2 - INT read-only group.max.size =2147483647
0.11 - INT read-only group.min.session.timeout.ms =6000
4.3 - INT cluster-wide group.share.assignment.interval.ms =1000
4.1 - LIST read-only group.share.assignors =simple
3.9 - INT read-only group.share.delivery.count.limit =5
3.9 - INT read-only group.share.heartbeat.interval.ms =5000
4.3 - INT read-only group.share.max.assignment.interval.ms =15000
4.3 - INT read-only group.share.max.delivery.count.limit =10
3.9 4.0 SHORT read-only group.share.max.groups =10
3.9 - INT read-only group.share.max.heartbeat.interval.ms =15000
4.3 - INT read-only group.share.max.partition.max.record.locks =4000
3.9 - INT read-only group.share.max.record.lock.duration.ms =60000
3.9 - INT read-only group.share.max.session.timeout.ms =60000
4.1 - INT read-only group.share.max.share.sessions =2000
3.9 3.9 SHORT read-only group.share.max.size =200
4.0 - INT read-only group.share.max.size =200
4.3 - INT read-only group.share.min.assignment.interval.ms =0
4.3 - INT read-only group.share.min.delivery.count.limit =2
3.9 - INT read-only group.share.min.heartbeat.interval.ms =5000
4.3 - INT read-only group.share.min.partition.max.record.locks =100
3.9 - INT read-only group.share.min.record.lock.duration.ms =15000
3.9 - INT read-only group.share.min.session.timeout.ms =45000
3.9 4.0 INT read-only group.share.partition.max.record.locks =200
4.1 - INT read-only group.share.partition.max.record.locks =2000
3.9 - INT read-only group.share.record.lock.duration.ms =30000
3.9 - INT read-only group.share.session.timeout.ms =45000
4.3 - INT cluster-wide group.streams.assignment.interval.ms =1000
4.4 - LIST read-only group.streams.assignors =sticky
4.1 - INT read-only group.streams.heartbeat.interval.ms =5000
4.2 - INT read-only group.streams.initial.rebalance.delay.ms =3000
4.3 - INT read-only group.streams.max.assignment.interval.ms =15000
4.1 - INT read-only group.streams.max.heartbeat.interval.ms =15000
4.1 - INT read-only group.streams.max.session.timeout.ms =60000
4.1 - INT read-only group.streams.max.size =2147483647
4.1 - INT read-only group.streams.max.standby.replicas =2
4.3 - INT read-only group.streams.min.assignment.interval.ms =0
4.1 - INT read-only group.streams.min.heartbeat.interval.ms =5000
4.1 - INT read-only group.streams.min.session.timeout.ms =45000
4.1 - INT read-only group.streams.num.standby.replicas =0
4.4 - LIST read-only group.streams.rack.aware.assignment.tags =
4.1 - INT read-only group.streams.session.timeout.ms =45000
4.4 - CLASS read-only group.streams.topology.description.plugin.class
0.11 2.8 STRING read-only host.name =
3.0 - INT read-only initial.broker.registration.timeout.ms =60000
0.11 - STRING read-only inter.broker.listener.name
0.11 0.11 STRING read-only inter.broker.protocol.version =0.11.0-IV2
1.0 1.0 STRING read-only inter.broker.protocol.version =1.0-IV0
1.1 1.1 STRING read-only inter.broker.protocol.version =1.1-IV0
2.0 2.0 STRING read-only inter.broker.protocol.version =2.0-IV1
2.1 2.1 STRING read-only inter.broker.protocol.version =2.1-IV2
2.2 2.2 STRING read-only inter.broker.protocol.version =2.2-IV1
2.3 2.3 STRING read-only inter.broker.protocol.version =2.3-IV1
2.4 2.4 STRING read-only inter.broker.protocol.version =2.4-IV1
2.5 2.5 STRING read-only inter.broker.protocol.version =2.5-IV0
2.6 2.6 STRING read-only inter.broker.protocol.version =2.6-IV0
2.7 2.7 STRING read-only inter.broker.protocol.version =2.7-IV2
2.8 2.8 STRING read-only inter.broker.protocol.version =2.8-IV1
3.0 3.0 STRING read-only inter.broker.protocol.version =3.0-IV1
3.1 3.1 STRING read-only inter.broker.protocol.version =3.1-IV0
3.2 3.2 STRING read-only inter.broker.protocol.version =3.2-IV0
3.3 3.3 STRING read-only inter.broker.protocol.version =3.3-IV3
3.4 3.4 STRING read-only inter.broker.protocol.version =3.4-IV0
3.5 3.5 STRING read-only inter.broker.protocol.version =3.5-IV2
3.6 3.6 STRING read-only inter.broker.protocol.version =3.6-IV2
3.7 3.7 STRING read-only inter.broker.protocol.version =3.7-IV4
3.8 3.8 STRING read-only inter.broker.protocol.version =3.8-IV0
3.9 3.9 STRING read-only inter.broker.protocol.version =3.9-IV0
2.1 - INT read-only kafka.metrics.polling.interval.secs =10
2.1 - LIST read-only kafka.metrics.reporters =
0.11 - LONG read-only leader.imbalance.check.interval.seconds =300
0.11 3.9 INT read-only leader.imbalance.per.broker.percentage =10
0.11 0.11 STRING read-only listener.security.protocol.map =SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,TRACE:TRACE,SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT
1.0 1.0 STRING read-only listener.security.protocol.map =PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
1.1 3.7 STRING per-broker listener.security.protocol.map =PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
3.8 - STRING per-broker listener.security.protocol.map =SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT
0.11 1.0 STRING read-only listeners
1.1 2.8 STRING per-broker listeners
3.0 4.1 STRING per-broker listeners =PLAINTEXT://:9092
4.2 - LIST per-broker listeners =PLAINTEXT://:9092
0.11 1.0 LONG read-only log.cleaner.backoff.ms =15000
1.1 - LONG cluster-wide log.cleaner.backoff.ms =15000
0.11 1.0 LONG read-only log.cleaner.dedupe.buffer.size =134217728
1.1 - LONG cluster-wide log.cleaner.dedupe.buffer.size =134217728
0.11 1.0 LONG read-only log.cleaner.delete.retention.ms =86400000
1.1 - LONG cluster-wide log.cleaner.delete.retention.ms =86400000
0.11 - BOOLEAN read-only log.cleaner.enable =true
0.11 1.0 DOUBLE read-only log.cleaner.io.buffer.load.factor =0.9
1.1 - DOUBLE cluster-wide log.cleaner.io.buffer.load.factor =0.9
0.11 1.0 INT read-only log.cleaner.io.buffer.size =524288
1.1 - INT cluster-wide log.cleaner.io.buffer.size =524288
0.11 1.0 DOUBLE read-only log.cleaner.io.max.bytes.per.second =1.7976931348623157E308
1.1 - DOUBLE cluster-wide log.cleaner.io.max.bytes.per.second =1.7976931348623157E308
2.3 - LONG cluster-wide log.cleaner.max.compaction.lag.ms =9223372036854775807
0.11 1.0 DOUBLE read-only log.cleaner.min.cleanable.ratio =0.5
1.1 - DOUBLE cluster-wide log.cleaner.min.cleanable.ratio =0.5
0.11 1.0 LONG read-only log.cleaner.min.compaction.lag.ms =0
1.1 - LONG cluster-wide log.cleaner.min.compaction.lag.ms =0
0.11 1.0 INT read-only log.cleaner.threads =1
1.1 - INT cluster-wide log.cleaner.threads =1
0.11 1.0 LIST read-only log.cleanup.policy =delete
1.1 - LIST cluster-wide log.cleanup.policy =delete
0.11 4.1 STRING read-only log.dir =/tmp/kafka-logs
4.2 - LIST read-only log.dir =/tmp/kafka-logs
3.8 - LONG read-only log.dir.failure.timeout.ms =30000
0.11 4.1 STRING read-only log.dirs
4.2 - LIST read-only log.dirs
0.11 1.0 LONG read-only log.flush.interval.messages =9223372036854775807
1.1 - LONG cluster-wide log.flush.interval.messages =9223372036854775807
0.11 1.0 LONG read-only log.flush.interval.ms
1.1 - LONG cluster-wide log.flush.interval.ms
0.11 - INT read-only log.flush.offset.checkpoint.interval.ms =60000
0.11 - LONG read-only log.flush.scheduler.interval.ms =9223372036854775807
0.11 - INT read-only log.flush.start.offset.checkpoint.interval.ms =60000
0.11 1.0 INT read-only log.index.interval.bytes =4096
1.1 - INT cluster-wide log.index.interval.bytes =4096
0.11 1.0 INT read-only log.index.size.max.bytes =10485760
1.1 - INT cluster-wide log.index.size.max.bytes =10485760
3.6 - LONG cluster-wide log.local.retention.bytes =-2
3.6 - LONG cluster-wide log.local.retention.ms =-2
2.0 3.9 BOOLEAN cluster-wide log.message.downconversion.enable =true
0.11 0.11 STRING read-only log.message.format.version =0.11.0-IV2
1.0 1.0 STRING read-only log.message.format.version =1.0-IV0
1.1 1.1 STRING read-only log.message.format.version =1.1-IV0
2.0 2.0 STRING read-only log.message.format.version =2.0-IV1
2.1 2.1 STRING read-only log.message.format.version =2.1-IV2
2.2 2.2 STRING read-only log.message.format.version =2.2-IV1
2.3 2.3 STRING read-only log.message.format.version =2.3-IV1
2.4 2.4 STRING read-only log.message.format.version =2.4-IV1
2.5 2.5 STRING read-only log.message.format.version =2.5-IV0
2.6 2.6 STRING read-only log.message.format.version =2.6-IV0
2.7 2.7 STRING read-only log.message.format.version =2.7-IV2
2.8 2.8 STRING read-only log.message.format.version =2.8-IV1
3.0 3.9 STRING read-only log.message.format.version =3.0-IV1
3.6 3.9 LONG cluster-wide log.message.timestamp.after.max.ms =9223372036854775807
4.0 - LONG cluster-wide log.message.timestamp.after.max.ms =3600000
3.6 - LONG cluster-wide log.message.timestamp.before.max.ms =9223372036854775807
0.11 1.0 LONG read-only log.message.timestamp.difference.max.ms =9223372036854775807
1.1 3.9 LONG cluster-wide log.message.timestamp.difference.max.ms =9223372036854775807
0.11 1.0 STRING read-only log.message.timestamp.type =CreateTime
1.1 - STRING cluster-wide log.message.timestamp.type =CreateTime
0.11 1.0 BOOLEAN read-only log.preallocate =false
1.1 - BOOLEAN cluster-wide log.preallocate =false
4.4 - LONG cluster-wide log.remote.copy.lag.bytes =-1
4.4 - LONG cluster-wide log.remote.copy.lag.ms =0
0.11 1.0 LONG read-only log.retention.bytes =-1
1.1 - LONG cluster-wide log.retention.bytes =-1
0.11 - LONG read-only log.retention.check.interval.ms =300000
0.11 - INT read-only log.retention.hours =168
0.11 - INT read-only log.retention.minutes
0.11 1.0 LONG read-only log.retention.ms
1.1 - LONG cluster-wide log.retention.ms
0.11 - INT read-only log.roll.hours =168
0.11 - INT read-only log.roll.jitter.hours =0
0.11 1.0 LONG read-only log.roll.jitter.ms
1.1 - LONG cluster-wide log.roll.jitter.ms
0.11 1.0 LONG read-only log.roll.ms
1.1 - LONG cluster-wide log.roll.ms
0.11 1.0 INT read-only log.segment.bytes =1073741824
1.1 - INT cluster-wide log.segment.bytes =1073741824
0.11 1.0 LONG read-only log.segment.delete.delay.ms =60000
1.1 - LONG cluster-wide log.segment.delete.delay.ms =60000
2.7 - INT cluster-wide max.connection.creation.rate =2147483647
2.3 - INT cluster-wide max.connections =2147483647
0.11 2.0 INT read-only max.connections.per.ip =2147483647
2.1 - INT cluster-wide max.connections.per.ip =2147483647
0.11 2.0 STRING read-only max.connections.per.ip.overrides =
2.1 - STRING cluster-wide max.connections.per.ip.overrides =
4.2 4.2 INT cluster-wide max.decompressed.message.bytes =2147483639
4.4 - INT cluster-wide max.decompressed.message.bytes =2147483639
1.1 - INT read-only max.incremental.fetch.session.cache.slots =1000
3.8 - INT read-only max.request.partition.size.limit =2000
0.11 1.0 INT read-only message.max.bytes =1000012
1.1 2.4 INT cluster-wide message.max.bytes =1000012
2.5 - INT cluster-wide message.max.bytes =1048588
3.0 - STRING read-only metadata.log.dir
3.0 - LONG read-only metadata.log.max.record.bytes.between.snapshots =20971520
3.4 - LONG read-only metadata.log.max.snapshot.interval.ms =3600000
3.0 - INT read-only metadata.log.segment.bytes =1073741824
3.0 - LONG read-only metadata.log.segment.ms =604800000
3.3 - INT read-only metadata.max.idle.interval.ms =500
3.0 3.3 LONG read-only metadata.max.retention.bytes =-1
3.4 - LONG read-only metadata.max.retention.bytes =104857600
3.0 - LONG read-only metadata.max.retention.ms =604800000
0.11 1.0 LIST read-only metric.reporters =
1.1 3.9 LIST cluster-wide metric.reporters =
4.0 - LIST cluster-wide metric.reporters =org.apache.kafka.common.metrics.JmxReporter
0.11 - INT read-only metrics.num.samples =2
0.11 - STRING read-only metrics.recording.level =INFO
0.11 - LONG read-only metrics.sample.window.ms =30000
0.11 1.0 INT read-only min.insync.replicas =1
1.1 - INT cluster-wide min.insync.replicas =1
3.0 3.9 INT read-only node.id =-1
4.0 - INT read-only node.id
0.11 1.0 INT read-only num.io.threads =8
1.1 - INT cluster-wide num.io.threads =8
0.11 1.0 INT read-only num.network.threads =3
1.1 - INT cluster-wide num.network.threads =3
0.11 - INT read-only num.partitions =1
0.11 1.0 INT read-only num.recovery.threads.per.data.dir =1
1.1 3.9 INT cluster-wide num.recovery.threads.per.data.dir =1
4.0 - INT cluster-wide num.recovery.threads.per.data.dir =2
1.1 - INT read-only num.replica.alter.log.dirs.threads
0.11 1.0 INT read-only num.replica.fetchers =1
1.1 - INT cluster-wide num.replica.fetchers =1
0.11 - INT read-only offset.metadata.max.bytes =4096
0.11 3.9 SHORT read-only offsets.commit.required.acks =-1
0.11 - INT read-only offsets.commit.timeout.ms =5000
0.11 - INT read-only offsets.load.buffer.size =5242880
0.11 - LONG read-only offsets.retention.check.interval.ms =600000
0.11 1.1 INT read-only offsets.retention.minutes =1440
2.0 - INT read-only offsets.retention.minutes =10080
0.11 - INT read-only offsets.topic.compression.codec =0
0.11 - INT read-only offsets.topic.num.partitions =50
0.11 - SHORT read-only offsets.topic.replication.factor =3
0.11 - INT read-only offsets.topic.segment.bytes =104857600
1.1 3.9 STRING read-only password.encoder.cipher.algorithm =AES/CBC/PKCS5Padding
1.1 3.9 INT read-only password.encoder.iterations =4096
1.1 3.9 INT read-only password.encoder.key.length =128
1.1 3.9 STRING read-only password.encoder.keyfactory.algorithm
1.1 3.9 PASSWORD read-only password.encoder.old.secret
1.1 3.9 PASSWORD read-only password.encoder.secret
0.11 2.8 INT read-only port =9092
0.11 0.11 CLASS read-only principal.builder.class =org.apache.kafka.common.security.auth.DefaultPrincipalBuilder
1.0 1.0 CLASS read-only principal.builder.class
1.1 2.8 CLASS per-broker principal.builder.class
3.0 - CLASS per-broker principal.builder.class =org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder
3.0 3.9 LIST read-only process.roles =
4.0 - LIST read-only process.roles
3.4 - INT cluster-wide producer.id.expiration.ms =86400000
0.11 - INT read-only producer.purgatory.purge.interval.requests =1000
1.0 - LONG read-only queued.max.request.bytes =-1
0.11 - INT read-only queued.max.requests =500
0.11 2.8 LONG read-only quota.consumer.default =9223372036854775807
0.11 2.8 LONG read-only quota.producer.default =9223372036854775807
0.11 - INT read-only quota.window.num =11
0.11 - INT read-only quota.window.size.seconds =1
3.8 - INT cluster-wide remote.fetch.max.wait.ms =500
4.0 - LONG cluster-wide remote.list.offsets.request.timeout.ms =30000
3.7 - LONG cluster-wide remote.log.index.file.cache.total.size.bytes =1073741824
3.9 3.9 INT read-only remote.log.manager.copier.thread.pool.size =-1
4.0 - INT cluster-wide remote.log.manager.copier.thread.pool.size =10
3.8 - LONG cluster-wide remote.log.manager.copy.max.bytes.per.second =9223372036854775807
3.8 - INT read-only remote.log.manager.copy.quota.window.num =11
3.8 - INT read-only remote.log.manager.copy.quota.window.size.seconds =1
3.9 3.9 INT read-only remote.log.manager.expiration.thread.pool.size =-1
4.0 - INT cluster-wide remote.log.manager.expiration.thread.pool.size =10
3.8 - LONG cluster-wide remote.log.manager.fetch.max.bytes.per.second =9223372036854775807
3.8 - INT read-only remote.log.manager.fetch.quota.window.num =11
3.8 - INT read-only remote.log.manager.fetch.quota.window.size.seconds =1
4.2 - INT cluster-wide remote.log.manager.follower.thread.pool.size =2
3.6 - LONG read-only remote.log.manager.task.interval.ms =30000
3.6 3.9 INT read-only remote.log.manager.thread.pool.size =10
4.0 - INT read-only remote.log.manager.thread.pool.size =2
3.6 - INT read-only remote.log.metadata.custom.metadata.max.bytes =128
3.6 - STRING read-only remote.log.metadata.manager.class.name =org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager
3.6 - STRING read-only remote.log.metadata.manager.class.path
3.6 - STRING read-only remote.log.metadata.manager.impl.prefix =rlmm.config.
3.6 - STRING read-only remote.log.metadata.manager.listener.name
3.6 - INT read-only remote.log.reader.max.pending.tasks =100
3.6 3.9 INT read-only remote.log.reader.threads =10
4.0 - INT cluster-wide remote.log.reader.threads =10
3.6 - STRING read-only remote.log.storage.manager.class.name
3.6 - STRING read-only remote.log.storage.manager.class.path
3.6 - STRING read-only remote.log.storage.manager.impl.prefix =rsm.config.
3.6 - BOOLEAN read-only remote.log.storage.system.enable =false
0.11 - INT read-only replica.fetch.backoff.ms =1000
0.11 - INT read-only replica.fetch.max.bytes =1048576
0.11 - INT read-only replica.fetch.min.bytes =1
0.11 - INT read-only replica.fetch.response.max.bytes =10485760
0.11 - INT read-only replica.fetch.wait.max.ms =500
0.11 - LONG read-only replica.high.watermark.checkpoint.interval.ms =5000
0.11 2.4 LONG read-only replica.lag.time.max.ms =10000
2.5 - LONG read-only replica.lag.time.max.ms =30000
2.4 - STRING read-only replica.selector.class
0.11 - INT read-only replica.socket.receive.buffer.bytes =65536
0.11 - INT read-only replica.socket.timeout.ms =30000
0.11 - INT read-only replication.quota.window.num =11
0.11 - INT read-only replication.quota.window.size.seconds =1
0.11 - INT read-only request.timeout.ms =30000
0.11 3.9 INT read-only reserved.broker.max.id =1000
2.0 - CLASS read-only sasl.client.callback.handler.class
0.11 1.0 LIST read-only sasl.enabled.mechanisms =GSSAPI
1.1 - LIST per-broker sasl.enabled.mechanisms =GSSAPI
1.1 - PASSWORD per-broker sasl.jaas.config
0.11 1.0 STRING read-only sasl.kerberos.kinit.cmd =/usr/bin/kinit
1.1 - STRING per-broker sasl.kerberos.kinit.cmd =/usr/bin/kinit
0.11 1.0 LONG read-only sasl.kerberos.min.time.before.relogin =60000
1.1 - LONG per-broker sasl.kerberos.min.time.before.relogin =60000
0.11 1.0 LIST read-only sasl.kerberos.principal.to.local.rules =DEFAULT
1.1 - LIST per-broker sasl.kerberos.principal.to.local.rules =DEFAULT
0.11 1.0 STRING read-only sasl.kerberos.service.name
1.1 - STRING per-broker sasl.kerberos.service.name
0.11 1.0 DOUBLE read-only sasl.kerberos.ticket.renew.jitter =0.05
1.1 - DOUBLE per-broker sasl.kerberos.ticket.renew.jitter =0.05
0.11 1.0 DOUBLE read-only sasl.kerberos.ticket.renew.window.factor =0.8
1.1 - DOUBLE per-broker sasl.kerberos.ticket.renew.window.factor =0.8
2.0 - CLASS read-only sasl.login.callback.handler.class
2.0 - CLASS read-only sasl.login.class
3.1 - INT read-only sasl.login.connect.timeout.ms
3.1 - INT read-only sasl.login.read.timeout.ms
2.0 - SHORT per-broker sasl.login.refresh.buffer.seconds =300
2.0 - SHORT per-broker sasl.login.refresh.min.period.seconds =60
2.0 - DOUBLE per-broker sasl.login.refresh.window.factor =0.8
2.0 - DOUBLE per-broker sasl.login.refresh.window.jitter =0.05
3.1 - LONG read-only sasl.login.retry.backoff.max.ms =10000
3.1 - LONG read-only sasl.login.retry.backoff.ms =100
3.0 - STRING read-only sasl.mechanism.controller.protocol =GSSAPI
0.11 1.0 STRING read-only sasl.mechanism.inter.broker.protocol =GSSAPI
1.1 - STRING per-broker sasl.mechanism.inter.broker.protocol =GSSAPI
4.4 - BOOLEAN read-only sasl.oauthbearer.allow.unverified.audience =false
4.4 - BOOLEAN read-only sasl.oauthbearer.allow.unverified.issuer =false
4.1 - STRING read-only sasl.oauthbearer.assertion.algorithm =RS256
4.1 - STRING read-only sasl.oauthbearer.assertion.claim.aud
4.1 - INT read-only sasl.oauthbearer.assertion.claim.exp.seconds =300
4.1 - STRING read-only sasl.oauthbearer.assertion.claim.iss
4.1 - BOOLEAN read-only sasl.oauthbearer.assertion.claim.jti.include =false
4.1 - INT read-only sasl.oauthbearer.assertion.claim.nbf.seconds =60
4.1 - STRING read-only sasl.oauthbearer.assertion.claim.sub
4.1 - STRING read-only sasl.oauthbearer.assertion.file
4.1 - STRING read-only sasl.oauthbearer.assertion.private.key.file
4.1 - PASSWORD read-only sasl.oauthbearer.assertion.private.key.passphrase
4.1 - STRING read-only sasl.oauthbearer.assertion.template.file
4.1 - STRING read-only sasl.oauthbearer.client.credentials.client.id
4.1 - PASSWORD read-only sasl.oauthbearer.client.credentials.client.secret
3.1 - INT read-only sasl.oauthbearer.clock.skew.seconds =30
3.1 4.1 LIST read-only sasl.oauthbearer.expected.audience
4.2 - LIST read-only sasl.oauthbearer.expected.audience =
3.1 - STRING read-only sasl.oauthbearer.expected.issuer
3.1 - LONG read-only sasl.oauthbearer.jwks.endpoint.refresh.ms =3600000
3.1 - LONG read-only sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms =10000
3.1 - LONG read-only sasl.oauthbearer.jwks.endpoint.retry.backoff.ms =100
3.1 - STRING read-only sasl.oauthbearer.jwks.endpoint.url
4.1 - CLASS read-only sasl.oauthbearer.jwt.retriever.class =org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever
4.1 - CLASS read-only sasl.oauthbearer.jwt.validator.class =org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator
4.1 - STRING read-only sasl.oauthbearer.scope
3.1 - STRING read-only sasl.oauthbearer.scope.claim.name =scope
3.1 - STRING read-only sasl.oauthbearer.sub.claim.name =sub
3.1 - STRING read-only sasl.oauthbearer.token.endpoint.url
2.0 - CLASS read-only sasl.server.callback.handler.class
2.8 - INT read-only sasl.server.max.receive.size =524288
0.11 - STRING read-only security.inter.broker.protocol =PLAINTEXT
2.4 - STRING read-only security.providers
4.0 4.0 INT read-only share.coordinator.append.linger.ms =10
4.1 4.1 INT read-only share.coordinator.append.linger.ms =5
4.2 - INT read-only share.coordinator.append.linger.ms =-1
4.3 - INT cluster-wide share.coordinator.cached.buffer.max.bytes =1048588
4.0 - INT read-only share.coordinator.load.buffer.size =5242880
4.0 - INT read-only share.coordinator.snapshot.update.records.per.snapshot =500
4.0 - INT read-only share.coordinator.state.topic.compression.codec =0
4.0 - SHORT read-only share.coordinator.state.topic.min.isr =2
4.0 - INT read-only share.coordinator.state.topic.num.partitions =50
4.0 - SHORT read-only share.coordinator.state.topic.replication.factor =3
4.0 - INT read-only share.coordinator.state.topic.segment.bytes =104857600
4.0 - INT read-only share.coordinator.threads =1
4.0 - INT read-only share.coordinator.write.timeout.ms =5000
4.0 - INT read-only share.fetch.purgatory.purge.interval.requests =1000
2.7 2.7 LONG read-only socket.connection.setup.timeout.max.ms =127000
2.8 - LONG read-only socket.connection.setup.timeout.max.ms =30000
2.7 - LONG read-only socket.connection.setup.timeout.ms =10000
3.2 - INT read-only socket.listen.backlog.size =50
0.11 - INT read-only socket.receive.buffer.bytes =102400
0.11 - INT read-only socket.request.max.bytes =104857600
0.11 - INT read-only socket.send.buffer.bytes =102400
3.7 - BOOLEAN read-only ssl.allow.dn.changes =false
3.7 - BOOLEAN read-only ssl.allow.san.changes =false
0.11 1.0 LIST read-only ssl.cipher.suites
1.1 - LIST per-broker ssl.cipher.suites =
0.11 1.0 STRING read-only ssl.client.auth =none
1.1 - STRING per-broker ssl.client.auth =none
0.11 1.0 LIST read-only ssl.enabled.protocols =TLSv1.2,TLSv1.1,TLSv1
1.1 2.4 LIST per-broker ssl.enabled.protocols =TLSv1.2,TLSv1.1,TLSv1
2.5 2.5 LIST per-broker ssl.enabled.protocols =TLSv1.2
2.6 - LIST per-broker ssl.enabled.protocols =TLSv1.2,TLSv1.3
0.11 1.0 STRING read-only ssl.endpoint.identification.algorithm
1.1 1.1 STRING per-broker ssl.endpoint.identification.algorithm
2.0 - STRING per-broker ssl.endpoint.identification.algorithm =https
2.6 - CLASS per-broker ssl.engine.factory.class
0.11 1.0 PASSWORD read-only ssl.key.password
1.1 - PASSWORD per-broker ssl.key.password
0.11 1.0 STRING read-only ssl.keymanager.algorithm =SunX509
1.1 - STRING per-broker ssl.keymanager.algorithm =SunX509
2.7 - PASSWORD per-broker ssl.keystore.certificate.chain
2.7 - PASSWORD per-broker ssl.keystore.key
0.11 1.0 STRING read-only ssl.keystore.location
1.1 - STRING per-broker ssl.keystore.location
0.11 1.0 PASSWORD read-only ssl.keystore.password
1.1 - PASSWORD per-broker ssl.keystore.password
0.11 1.0 STRING read-only ssl.keystore.type =JKS
1.1 - STRING per-broker ssl.keystore.type =JKS
2.2 2.3 LIST read-only ssl.principal.mapping.rules =DEFAULT
2.4 - STRING read-only ssl.principal.mapping.rules =DEFAULT
0.11 1.0 STRING read-only ssl.protocol =TLS
1.1 2.4 STRING per-broker ssl.protocol =TLS
2.5 2.5 STRING per-broker ssl.protocol =TLSv1.2
2.6 - STRING per-broker ssl.protocol =TLSv1.3
0.11 1.0 STRING read-only ssl.provider
1.1 - STRING per-broker ssl.provider
0.11 1.0 STRING read-only ssl.secure.random.implementation
1.1 - STRING per-broker ssl.secure.random.implementation
0.11 1.0 STRING read-only ssl.trustmanager.algorithm =PKIX
1.1 - STRING per-broker ssl.trustmanager.algorithm =PKIX
2.7 - PASSWORD per-broker ssl.truststore.certificates
0.11 1.0 STRING read-only ssl.truststore.location
1.1 - STRING per-broker ssl.truststore.location
0.11 1.0 PASSWORD read-only ssl.truststore.password
1.1 - PASSWORD per-broker ssl.truststore.password
0.11 1.0 STRING read-only ssl.truststore.type =JKS
1.1 - STRING per-broker ssl.truststore.type =JKS
3.7 - INT read-only telemetry.max.bytes =1048576
0.11 2.4 INT read-only transaction.abort.timed.out.transaction.cleanup.interval.ms =60000
2.5 - INT read-only transaction.abort.timed.out.transaction.cleanup.interval.ms =10000
0.11 - INT read-only transaction.max.timeout.ms =900000
3.6 - BOOLEAN cluster-wide transaction.partition.verification.enable =true
0.11 - INT read-only transaction.remove.expired.transaction.cleanup.interval.ms =3600000
0.11 - INT read-only transaction.state.log.load.buffer.size =5242880
0.11 - INT read-only transaction.state.log.min.isr =2
0.11 - INT read-only transaction.state.log.num.partitions =50
0.11 - SHORT read-only transaction.state.log.replication.factor =3
0.11 - INT read-only transaction.state.log.segment.bytes =104857600
4.1 - BOOLEAN read-only transaction.two.phase.commit.enable =false
0.11 - INT read-only transactional.id.expiration.ms =604800000
0.11 1.0 BOOLEAN read-only unclean.leader.election.enable =false
1.1 - BOOLEAN cluster-wide unclean.leader.election.enable =false
2.5 3.9 STRING read-only zookeeper.clientCnxnSocket
0.11 3.9 STRING read-only zookeeper.connect
0.11 3.9 INT read-only zookeeper.connection.timeout.ms
1.1 3.9 INT read-only zookeeper.max.in.flight.requests =10
3.4 3.9 BOOLEAN read-only zookeeper.metadata.migration.enable =false
0.11 2.4 INT read-only zookeeper.session.timeout.ms =6000
2.5 3.9 INT read-only zookeeper.session.timeout.ms =18000
0.11 3.9 BOOLEAN read-only zookeeper.set.acl =false
2.5 3.9 LIST read-only zookeeper.ssl.cipher.suites
2.5 3.9 BOOLEAN read-only zookeeper.ssl.client.enable =false
2.5 3.9 BOOLEAN read-only zookeeper.ssl.crl.enable =false
2.5 3.9 LIST read-only zookeeper.ssl.enabled.protocols
2.5 3.9 STRING read-only zookeeper.ssl.endpoint.identification.algorithm =HTTPS
2.5 3.9 STRING read-only zookeeper.ssl.keystore.location
2.5 3.9 PASSWORD read-only zookeeper.ssl.keystore.password
2.5 3.9 STRING read-only zookeeper.ssl.keystore.type
2.5 3.9 BOOLEAN read-only zookeeper.ssl.ocsp.enable =false
2.5 3.9 STRING read-only zookeeper.ssl.protocol =TLSv1.2
2.5 3.9 STRING read-only zookeeper.ssl.truststore.location
2.5 3.9 PASSWORD read-only zookeeper.ssl.truststore.password
2.5 3.9 STRING read-only zookeeper.ssl.truststore.type
0.11 3.1 INT read-only zookeeper.sync.time.ms =2000
"""
