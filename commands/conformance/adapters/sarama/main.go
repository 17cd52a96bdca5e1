// The adapter of sarama: one producer or one consumer at a time.
package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

const (
	module  = "github.com/IBM/sarama"
	retries = 300
)

type adapter struct {
	settings
	producer sarama.AsyncProducer
	consumer sarama.Consumer
	parts    []sarama.PartitionConsumer
	member   *member
	messages chan *sarama.ConsumerMessage
	failures chan error
}

func (a *adapter) answer(asked request, told answer) error {
	switch asked.Do {
	case "hello":
		told["client"] = "sarama " + version(module)
		told["can"] = []string{"idempotence", "transactions", "groups", "static"}
		told["oldest"] = "2.1"
		return nil
	case "producer":
		return a.openProducer(asked)
	case "send":
		told["results"] = a.send(asked.Records)
		return nil
	case "begin":
		return a.producer.BeginTxn()
	case "commit transaction":
		return a.producer.CommitTxn()
	case "abort":
		return a.producer.AbortTxn()
	case "send offsets":
		return a.sendOffsets(asked)
	case "consumer":
		return a.openConsumer(asked)
	case "poll":
		return a.poll(time.Duration(asked.Ms)*time.Millisecond, told)
	case "commit":
		return a.commit(asked.Offsets)
	case "close":
		return a.close()
	}
	return fmt.Errorf("no such request: %s", asked.Do)
}

func (a *adapter) servers() []string {
	return strings.Split(a.word("bootstrap.servers"), ",")
}

// The configuration that producers and consumers share.
func (a *adapter) config(given settings) *sarama.Config {
	a.settings = given
	config := sarama.NewConfig()
	config.ClientID = a.word("client.id")
	timeout, backoff := a.time("request.timeout.ms"), a.time("retry.backoff.ms")
	config.Net.DialTimeout, config.Net.ReadTimeout, config.Net.WriteTimeout = timeout, timeout, timeout
	config.Metadata.Retry.Max, config.Metadata.Retry.Backoff = retries, backoff
	config.Metadata.RefreshFrequency = a.time("metadata.max.age.ms")
	return config
}

// ---- producers

func (a *adapter) openProducer(asked request) (err error) {
	config := a.config(asked.Settings)
	backoff := a.time("retry.backoff.ms")
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.Timeout = a.time("request.timeout.ms")
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Retry.Backoff = backoff
	config.Producer.Retry.Max = int(a.time("delivery.timeout.ms") / backoff)
	config.Producer.Idempotent = a.word("enable.idempotence") == "true"
	if transactional := a.word("transactional.id"); transactional != "" {
		config.Producer.Idempotent = true
		config.Producer.Transaction.ID = transactional
		config.Producer.Transaction.Retry.Max = retries
		config.Producer.Transaction.Retry.Backoff = backoff
		if timeout := a.time("transaction.timeout.ms"); timeout > 0 {
			config.Producer.Transaction.Timeout = timeout
		}
	}
	if config.Producer.Idempotent || a.word("max.in.flight.requests.per.connection") == "1" {
		config.Net.MaxOpenRequests = 1
	}
	a.producer, err = sarama.NewAsyncProducer(a.servers(), config)
	return err
}

func (a *adapter) send(records []record) []answer {
	results := make([]answer, len(records))
	go func() {
		for i, r := range records {
			a.producer.Input() <- &sarama.ProducerMessage{
				Topic: r.Topic, Partition: r.Partition, Metadata: i,
				Key: sarama.StringEncoder(r.Key), Value: sarama.StringEncoder(r.Value),
			}
		}
	}()
	late := time.After(waits)
	for range records {
		select {
		case sent := <-a.producer.Successes():
			results[sent.Metadata.(int)] = answer{"offset": sent.Offset}
		case failed := <-a.producer.Errors():
			results[failed.Msg.Metadata.(int)] = answer{"error": text(failed.Err)}
		case <-late:
			for i := range results {
				if results[i] == nil {
					results[i] = answer{"error": "no response in time"}
				}
			}
			return results
		}
	}
	return results
}

func (a *adapter) sendOffsets(asked request) error {
	offsets := map[string][]*sarama.PartitionOffsetMetadata{}
	for _, o := range asked.Offsets {
		at := &sarama.PartitionOffsetMetadata{Partition: o.Partition, Offset: o.Offset, LeaderEpoch: -1}
		offsets[o.Topic] = append(offsets[o.Topic], at)
	}
	return a.producer.AddOffsetsToTxn(offsets, asked.Group)
}

// ---- consumers

func (a *adapter) openConsumer(asked request) (err error) {
	config := a.config(asked.Settings)
	config.Consumer.Return.Errors = true
	config.Consumer.MaxWaitTime = a.time("fetch.max.wait.ms")
	config.Consumer.Retry.Backoff = a.time("retry.backoff.ms")
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Offsets.Retry.Max = retries
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	if a.word("auto.offset.reset") == "latest" {
		config.Consumer.Offsets.Initial = sarama.OffsetNewest
	}
	if a.word("isolation.level") == "read_committed" {
		config.Consumer.IsolationLevel = sarama.ReadCommitted
	}
	a.messages = make(chan *sarama.ConsumerMessage)
	a.failures = make(chan error, 100)
	if group := a.word("group.id"); group != "" {
		return a.join(group, asked.Topics, config)
	}
	if a.consumer, err = sarama.NewConsumer(a.servers(), config); err != nil {
		return err
	}
	for _, at := range asked.Partitions {
		topic, partition := at[0].(string), int32(at[1].(float64))
		part, err := a.consumer.ConsumePartition(topic, partition, sarama.OffsetOldest)
		if err != nil {
			return err
		}
		a.parts = append(a.parts, part)
		go a.pass(part.Messages(), context.Background())
		go func() {
			for failed := range part.Errors() {
				note(failed, a.failures)
			}
		}()
	}
	return nil
}

// Hands on what ends a consumer or a commit; after all else sarama tries again by itself.
func note(err error, into chan<- error) {
	var code sarama.KError
	if errors.As(err, &code) {
		select {
		case into <- err:
		default:
		}
	}
}

// Hands messages over, one by one: what has not been polled when a session ends is dropped.
func (a *adapter) pass(messages <-chan *sarama.ConsumerMessage, until context.Context) {
	out := a.messages
	for message := range messages {
		select {
		case out <- message:
		case <-until.Done():
			return
		}
	}
}

// A member of a group: its session, if it has one.
type member struct {
	adapter *adapter
	group   sarama.ConsumerGroup
	end     context.CancelFunc
	// What fails in the background: a commit tells nothing else.
	failures chan error
	mutex    sync.Mutex
	session  sarama.ConsumerGroupSession
}

func (a *adapter) join(group string, topics []string, config *sarama.Config) (err error) {
	config.Consumer.Group.Session.Timeout = a.time("session.timeout.ms")
	config.Consumer.Group.Heartbeat.Interval = a.time("heartbeat.interval.ms")
	config.Consumer.Group.Rebalance.Timeout = a.time("max.poll.interval.ms")
	config.Consumer.Group.Rebalance.Retry.Max = retries
	config.Consumer.Group.Rebalance.Retry.Backoff = a.time("retry.backoff.ms")
	config.Consumer.Group.InstanceId = a.word("group.instance.id")
	config.Net.ReadTimeout += config.Consumer.Group.Rebalance.Timeout
	m := &member{adapter: a, failures: make(chan error, 100)}
	if m.group, err = sarama.NewConsumerGroup(a.servers(), group, config); err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	m.end = end
	a.member = m
	go func() {
		for failed := range m.group.Errors() {
			note(failed, m.failures)
		}
	}()
	go func() {
		for ctx.Err() == nil {
			if err := m.group.Consume(ctx, topics, m); errors.Is(err, sarama.ErrClosedConsumerGroup) {
				return
			}
		}
	}()
	return nil
}

func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	m.set(session)
	return nil
}

func (m *member) Cleanup(sarama.ConsumerGroupSession) error {
	m.set(nil)
	return nil
}

func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	m.adapter.pass(claim.Messages(), session.Context())
	return nil
}

func (m *member) set(session sarama.ConsumerGroupSession) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.session = session
}

func (m *member) current() sarama.ConsumerGroupSession {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.session
}

func (a *adapter) poll(wait time.Duration, told answer) (err error) {
	records := []record{}
	first := time.After(wait)
	for more := true; more; {
		select {
		case m := <-a.messages:
			records = append(records, record{
				Topic: m.Topic, Partition: m.Partition, Offset: m.Offset, Value: string(m.Value),
			})
			first = time.After(5 * time.Millisecond) // what else has been fetched
		case err = <-a.failures:
			more = false
		case <-first:
			more = false
		}
	}
	told["records"] = records
	told["assigned"] = a.assigned()
	return err
}

func (a *adapter) assigned() [][2]any {
	assigned := [][2]any{}
	if a.member == nil {
		return assigned
	}
	if session := a.member.current(); session != nil {
		for topic, partitions := range session.Claims() {
			for _, partition := range partitions {
				assigned = append(assigned, [2]any{topic, partition})
			}
		}
	}
	return assigned
}

func (a *adapter) commit(offsets []offset) error {
	session := a.member.current()
	if session == nil {
		return errors.New("it is no member now")
	}
	for len(a.member.failures) > 0 {
		<-a.member.failures
	}
	for _, o := range offsets {
		session.MarkOffset(o.Topic, o.Partition, o.Offset, "")
	}
	session.Commit()
	select {
	case err := <-a.member.failures:
		return err
	case <-time.After(time.Millisecond):
		return nil
	}
}

func (a *adapter) close() (err error) {
	if a.producer != nil {
		go func() {
			for range a.producer.Successes() {
			}
		}()
		err = a.producer.Close()
	}
	for _, part := range a.parts {
		part.AsyncClose()
	}
	if a.consumer != nil {
		err = a.consumer.Close()
	}
	if a.member != nil {
		a.member.end()
		err = a.member.group.Close()
	}
	*a = adapter{}
	return err
}
