// The adapter of franz-go: one producer or one consumer at a time.
package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

const (
	module  = "github.com/twmb/franz-go"
	retries = 1000
)

type adapter struct {
	settings
	client   *kgo.Client
	mutex    sync.Mutex
	assigned map[string]map[int32]bool
	failed   error // of acknowledgements
}

func (a *adapter) answer(asked request, told answer) error {
	ctx, cancel := context.WithTimeout(context.Background(), waits)
	defer cancel()
	switch asked.Do {
	case "hello":
		told["client"] = "franz-go " + version(module)
		told["can"] = []string{"idempotence", "transactions", "groups", "cooperative", "static", "truncation", "share groups"}
		return nil
	case "producer":
		return a.openProducer(ctx, asked)
	case "send":
		told["results"] = a.send(ctx, asked.Records)
		return nil
	case "begin":
		return a.client.BeginTransaction()
	case "commit transaction":
		return a.client.EndTransaction(ctx, kgo.TryCommit)
	case "abort":
		if err := a.client.AbortBufferedRecords(ctx); err != nil {
			return err
		}
		return a.client.EndTransaction(ctx, kgo.TryAbort)
	case "send offsets":
		return a.sendOffsets(ctx, asked)
	case "consumer":
		return a.openConsumer(asked)
	case "share consumer":
		return a.openShareConsumer(asked)
	case "acknowledge":
		return a.acknowledge(ctx, asked.How)
	case "poll":
		return a.poll(asked.Ms, told)
	case "commit":
		return a.commit(ctx, asked.Offsets)
	case "close":
		a.close()
		return nil
	}
	return fmt.Errorf("no such request: %s", asked.Do)
}

// The options that producers and consumers share.
func (a *adapter) options(given settings) []kgo.Opt {
	a.settings = given
	backoff := a.time("retry.backoff.ms")
	return []kgo.Opt{
		kgo.SeedBrokers(strings.Split(a.word("bootstrap.servers"), ",")...),
		kgo.ClientID(a.word("client.id")),
		kgo.RequestTimeoutOverhead(a.time("request.timeout.ms")),
		// As long as a request may take altogether, and not a number of times.
		kgo.RequestRetries(retries),
		kgo.RetryTimeout(a.time("default.api.timeout.ms")),
		kgo.RetryBackoffFn(func(int) time.Duration { return backoff }),
		kgo.MetadataMinAge(backoff),
		kgo.MetadataMaxAge(a.time("metadata.max.age.ms")),
	}
}

func (a *adapter) openProducer(ctx context.Context, asked request) (err error) {
	versions := kversion.Tip()
	// From version 6 on TxnOffsetCommit (28) names topics by ids, which are not filled in here.
	versions.SetMaxKeyVersion(28, 5)
	options := append(a.options(asked.Settings),
		kgo.MaxVersions(versions),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.RecordDeliveryTimeout(a.time("delivery.timeout.ms")),
		kgo.ProduceRequestTimeout(a.time("request.timeout.ms")),
		kgo.ProducerLinger(0),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
	)
	if a.word("acks") == "1" {
		options = append(options, kgo.RequiredAcks(kgo.LeaderAck()))
	}
	if a.word("enable.idempotence") == "false" || a.word("acks") == "1" {
		options = append(options, kgo.DisableIdempotentWrite())
		if a.word("max.in.flight.requests.per.connection") == "1" {
			options = append(options, kgo.MaxProduceRequestsInflightPerBroker(1))
		}
	}
	transactional := a.word("transactional.id")
	if transactional != "" {
		options = append(options, kgo.TransactionalID(transactional))
		if timeout := a.time("transaction.timeout.ms"); timeout > 0 {
			options = append(options, kgo.TransactionTimeout(timeout))
		}
	}
	if a.client, err = kgo.NewClient(options...); err != nil {
		return err
	}
	if transactional != "" {
		// Ask for the producer id now, which fences older producers.
		_, _, err = a.client.ProducerID(ctx)
	}
	return err
}

func (a *adapter) send(ctx context.Context, records []record) []answer {
	results := make([]answer, len(records))
	var sent sync.WaitGroup
	for i, r := range records {
		sent.Add(1)
		produced := &kgo.Record{
			Topic: r.Topic, Partition: r.Partition, Key: []byte(r.Key), Value: []byte(r.Value),
		}
		a.client.Produce(ctx, produced, func(done *kgo.Record, err error) {
			if results[i] = (answer{"offset": done.Offset}); err != nil {
				results[i] = answer{"error": text(err)}
			}
			sent.Done()
		})
	}
	sent.Wait()
	return results
}

// In a transaction offsets are added and committed by two requests of its own.
func (a *adapter) sendOffsets(ctx context.Context, asked request) error {
	id, epoch, err := a.client.ProducerID(ctx)
	if err != nil {
		return err
	}
	transactional := a.word("transactional.id")
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = transactional, id, epoch, asked.Group
	added, err := add.RequestWith(ctx, a.client)
	if err == nil {
		err = kerr.ErrorForCode(added.ErrorCode)
	}
	if err != nil {
		return err
	}
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.TransactionalID, commit.ProducerID, commit.ProducerEpoch = transactional, id, epoch
	commit.Group, commit.Generation = asked.Group, -1
	for _, o := range asked.Offsets {
		topic := kmsg.NewTxnOffsetCommitRequestTopic()
		partition := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		topic.Topic, partition.Partition, partition.Offset = o.Topic, o.Partition, o.Offset
		topic.Partitions = append(topic.Partitions, partition)
		commit.Topics = append(commit.Topics, topic)
	}
	committed, err := commit.RequestWith(ctx, a.client)
	if err != nil {
		return err
	}
	for _, topic := range committed.Topics {
		for _, partition := range topic.Partitions {
			err = errors.Join(err, kerr.ErrorForCode(partition.ErrorCode))
		}
	}
	return err
}

func (a *adapter) openConsumer(asked request) (err error) {
	options := append(a.options(asked.Settings),
		kgo.FetchMaxWait(a.time("fetch.max.wait.ms")),
		kgo.ConsumeResetOffset(reset(asked.Settings["auto.offset.reset"])),
	)
	a.assigned = map[string]map[int32]bool{}
	if a.word("isolation.level") == "read_committed" {
		options = append(options, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	if group := a.word("group.id"); group != "" {
		options = append(options, a.member(group, asked.Topics)...)
	} else {
		partitions := map[string]map[int32]kgo.Offset{}
		for _, at := range asked.Partitions {
			topic, partition := at[0].(string), int32(at[1].(float64))
			if partitions[topic] == nil {
				partitions[topic] = map[int32]kgo.Offset{}
			}
			partitions[topic][partition] = kgo.NewOffset().AtStart()
			a.owns(topic, []int32{partition}, true)
		}
		options = append(options, kgo.ConsumePartitions(partitions))
	}
	a.client, err = kgo.NewClient(options...)
	return err
}

// The options of a member of a group, which notes what it is assigned.
func (a *adapter) member(group string, topics []string) []kgo.Opt {
	balancer := kgo.RangeBalancer()
	if a.word("partition.assignment.strategy") == "cooperative-sticky" {
		balancer = kgo.CooperativeStickyBalancer()
	}
	change := func(owned bool) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
			for topic, numbers := range partitions {
				a.owns(topic, numbers, owned)
			}
		}
	}
	options := []kgo.Opt{
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topics...),
		kgo.Balancers(balancer),
		kgo.SessionTimeout(a.time("session.timeout.ms")),
		kgo.HeartbeatInterval(a.time("heartbeat.interval.ms")),
		kgo.RebalanceTimeout(a.time("max.poll.interval.ms")),
		kgo.DisableAutoCommit(),
		kgo.OnPartitionsAssigned(change(true)),
		kgo.OnPartitionsRevoked(change(false)),
		kgo.OnPartitionsLost(change(false)),
	}
	if instance := a.word("group.instance.id"); instance != "" {
		options = append(options, kgo.InstanceID(instance))
	}
	return options
}

func (a *adapter) openShareConsumer(asked request) (err error) {
	a.assigned = map[string]map[int32]bool{}
	a.client, err = kgo.NewClient(append(a.options(asked.Settings),
		kgo.FetchMaxWait(a.time("fetch.max.wait.ms")),
		kgo.ShareGroup(a.word("group.id")),
		kgo.ConsumeTopics(asked.Topics...),
		kgo.ShareAckCallback(func(_ *kgo.Client, results kgo.ShareAckResults) {
			a.mutex.Lock()
			a.failed = errors.Join(a.failed, results.Error())
			a.mutex.Unlock()
		}),
	)...)
	return err
}

// Acknowledge what the last poll returned, and wait for the answers.
func (a *adapter) acknowledge(ctx context.Context, how string) error {
	statuses := map[string]kgo.AckStatus{
		"accept": kgo.AckAccept, "release": kgo.AckRelease, "reject": kgo.AckReject,
	}
	a.client.MarkAcks(statuses[how])
	err := a.client.FlushAcks(ctx)
	a.mutex.Lock()
	defer a.mutex.Unlock()
	err, a.failed = errors.Join(err, a.failed), nil
	return err
}

func reset(policy any) kgo.Offset {
	switch policy {
	case "latest":
		return kgo.NewOffset().AtEnd()
	case "none":
		return kgo.NoResetOffset()
	}
	return kgo.NewOffset().AtStart()
}

func (a *adapter) owns(topic string, partitions []int32, owned bool) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.assigned[topic] == nil {
		a.assigned[topic] = map[int32]bool{}
	}
	for _, partition := range partitions {
		if owned {
			a.assigned[topic][partition] = true
		} else {
			delete(a.assigned[topic], partition)
		}
	}
}

func (a *adapter) poll(ms int64, told answer) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(ms)*time.Millisecond)
	defer cancel()
	fetches := a.client.PollFetches(ctx)
	records := []record{}
	fetches.EachRecord(func(r *kgo.Record) {
		records = append(records, record{
			Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Value: string(r.Value),
		})
	})
	told["records"] = records
	assigned := [][2]any{}
	a.mutex.Lock()
	for topic, partitions := range a.assigned {
		for partition := range partitions {
			assigned = append(assigned, [2]any{topic, partition})
		}
	}
	a.mutex.Unlock()
	told["assigned"] = assigned
	for _, failed := range fetches.Errors() {
		lost := &kgo.ErrDataLoss{}
		// Where a log was truncated it goes on by itself, and says so.
		if !errors.Is(failed.Err, context.DeadlineExceeded) && !errors.As(failed.Err, &lost) {
			return failed.Err
		}
	}
	return nil
}

func (a *adapter) commit(ctx context.Context, offsets []offset) (err error) {
	committed := map[string]map[int32]kgo.EpochOffset{}
	for _, o := range offsets {
		if committed[o.Topic] == nil {
			committed[o.Topic] = map[int32]kgo.EpochOffset{}
		}
		committed[o.Topic][o.Partition] = kgo.EpochOffset{Epoch: -1, Offset: o.Offset}
	}
	a.client.CommitOffsetsSync(ctx, committed,
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, told *kmsg.OffsetCommitResponse, failed error) {
			if err = failed; failed != nil {
				return
			}
			for _, topic := range told.Topics {
				for _, partition := range topic.Partitions {
					err = errors.Join(err, kerr.ErrorForCode(partition.ErrorCode))
				}
			}
		})
	return err
}

func (a *adapter) close() {
	if a.client != nil {
		a.client.Close()
	}
	a.client = nil
}
