"""The suites: where their sources are, the cluster that each needs, and how it is run.

A suite is plain data. In its words ``{servers}``, ``{host}`` and ``{port}`` stand for the bootstrap
servers and the first of them, ``{version}`` for the release, ``{patch}`` for a patch release of it,
``{report}`` for the file that the suite reports to, ``{conf}`` for its configuration file,
``{python}`` for the interpreter and ``{tests}`` for the tests that were asked for.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from benchmarks.client_suites.results import Reader, of_go, of_librdkafka, of_pytest
from emulator.releases.config import STANDARD_AUTHORIZER
from emulator.releases.versions import RELEASE_OF, is_since, is_until, numbers_of


class Git(Struct, frozen=True):
    """A tag or branch of a git repository."""

    url: str
    tag: str


class GoModule(Struct, frozen=True):
    """A Go module at a version, as module proxies have it: with its tests."""

    path: str
    version: str


class Accepted(Struct, frozen=True):
    """Tests that may fail, by a pattern of their names as :func:`fnmatch.fnmatchcase` takes it.

    They fail with a real broker of that release too, or no emulated broker can pass them; the
    ``reason`` says which. They may do so from the release ``since`` up to and including ``until``.
    """

    tests: str
    reason: str
    since: str = ""
    until: str = ""

    def holds_in(self, version: str) -> bool:
        """Whether they may fail on a release."""
        numbers = numbers_of(RELEASE_OF[version])
        ends = self.until and not is_until(numbers, self.until)
        return not ends and (not self.since or is_since(numbers, self.since))


class Suite(Struct, frozen=True, kw_only=True):
    """A client library's suite.

    ``script`` is the first line of the cluster's script, or else ``options`` of ``tidegauge serve``
    say all; ``port`` is the first broker's port, 0: any. ``prepare`` are commands that build the
    suite, ``packages`` Python packages that it imports, ``overlay`` files of ours that take the
    place of its own. ``beside`` is a Go program that runs while the suite does, and ``folder``
    where in its sources the suite is run. ``conf`` is the text of its configuration file. ``only``
    are the words that choose tests.
    """

    name: str
    source: Git | GoModule
    version: str = "4.1"
    script: str = ""
    options: Sequence[str] = ()
    port: int = 0
    prepare: Sequence[Sequence[str]] = ()
    packages: Sequence[str] = ()
    overlay: dict[str, str] = {}
    beside: str = ""
    folder: str = "."
    conf: str = ""
    command: Sequence[str]
    only: Sequence[str] = ()
    environment: dict[str, str] = {}
    read: Reader
    accepted: Sequence[Accepted] = ()


GO_TEST: Final = ("go", "test", "-json", "-count=1", "-timeout=60m")
GO_ONLY: Final = ("-run", "{tests}")
GO_ENVIRONMENT: Final = {"GOFLAGS": "-mod=mod"}
PYTEST: Final = ("{python}", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml={report}")
PYTEST_ONLY: Final = ("-k", "{tests}")
AT_ONCE: Final = ("--config", "group.initial.rebalance.delay.ms=0")
ONE_REPLICA: Final = (
    *("--config", "offsets.topic.replication.factor=1"),
    *("--config", "transaction.state.log.replication.factor=1"),
    *("--config", "transaction.state.log.min.isr=1"),
)
"""What a script's cluster of one broker needs; one without a script has it."""

FRANZ_GO: Final = Suite(
    name="franz-go",
    source=GoModule("github.com/twmb/franz-go", "v1.22.3"),
    command=(*GO_TEST, "./pkg/kgo/..."),
    only=GO_ONLY,
    environment={**GO_ENVIRONMENT, "KGO_SEEDS": "{servers}", "KGO_TEST_RECORDS": "50000"},
    read=of_go,
)

RACK_AWARE: Final = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
SARAMA: Final = Suite(
    name="sarama",
    source=GoModule("github.com/IBM/sarama", "v1.61.1"),
    script="cluster --brokers 5 --first-id 1 --racks 1,2,3,4,5 --latency 0.00002s",
    options=(
        *("--advertise", "127.0.0.1:29091", *AT_ONCE),
        *("--config", "auto.create.topics.enable=false"),
        *("--config", "default.replication.factor=2"),
        *("--config", "offsets.topic.replication.factor=2"),
        *("--config", "transaction.state.log.replication.factor=2"),
        *("--config", "transaction.state.log.min.isr=1"),
        *("--config", f"replica.selector.class={RACK_AWARE}"),
    ),
    port=29191,
    beside="github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0",
    command=(*GO_TEST, "-tags", "functional", "."),
    only=GO_ONLY,
    environment={
        **GO_ENVIRONMENT,
        "TOXIPROXY_ADDR": "http://127.0.0.1:8474",
        "KAFKA_VERSION": "{patch}",
    },
    read=of_go,
    accepted=(
        Accepted(
            "TestFuncAdminDescribeConfig",
            "configurations are described without their documentation",
            since="2.6",
        ),
        Accepted(
            "TestFuncIdempotentBufferedSequence", "reads the broker's text log in its container"
        ),
    ),
)

KAFKA_GO: Final = Suite(
    name="kafka-go",
    source=GoModule("github.com/segmentio/kafka-go", "v0.4.51"),
    version="3.9",
    script="cluster --brokers 1 --first-id 1 --latency 0.00002s",
    options=(
        *("--advertise", "localhost", *AT_ONCE, *ONE_REPLICA),
        *("--listener", "SASL=127.0.0.1:9093,protocol=SASL_PLAINTEXT,advertise=localhost"),
        *("--user", "adminplain:admin-secret"),
        *("--config", "message.max.bytes=200000000"),
        *("--config", "authorizer.class.name=kafka.security.authorizer.AclAuthorizer"),
        *("--config", "allow.everyone.if.no.acl.found=true"),
    ),
    port=9092,
    # These use a group without a dialer and panic, which ends all other tests, too.
    command=(
        *(*GO_TEST, "-skip"),
        "TestReaderConsumerGroup/(consumer_group_commits_on_close|verify_offset_committed.*)",
        ".",
    ),
    only=GO_ONLY,
    environment={**GO_ENVIRONMENT, "KAFKA_VERSION": "3.7.0", "KAFKA_SKIP_NETTEST": "1"},
    read=of_go,
    accepted=(
        Accepted("TestReaderReadCompactedMessage", "logs are not compacted"),
        Accepted(
            "TestReaderConsumerGroup/consumer_group_rebalance",
            "waits for 12 of the 8 records of one partition; it fails on a real 3.9.2, too",
        ),
    ),
)

KAFKA_PYTHON: Final = Suite(
    name="kafka-python",
    source=Git("https://github.com/dpkp/kafka-python.git", "master"),
    options=(
        *("--brokers", "1", "--config", "num.partitions=4", *AT_ONCE),
        *("--config", "group.min.session.timeout.ms=1000"),
        *("--config", f"authorizer.class.name={STANDARD_AUTHORIZER}"),
        *("--config", "allow.everyone.if.no.acl.found=true"),
    ),
    packages=("pytest-mock", "pytest-timeout"),
    command=(
        *(*PYTEST, "test/integration"),
        "--ignore=test/integration/test_sasl_integration.py",
        "--ignore=test/integration/test_ssl_integration.py",
    ),
    only=PYTEST_ONLY,
    environment={
        "KAFKA_URI": "kafka://{host}:{port}",
        "KAFKA_VERSION": "{patch}",
        "KAFKA_ROOT": ".",
    },
    read=of_pytest,
)

AIOKAFKA: Final = Suite(
    name="aiokafka",
    source=Git("https://github.com/aio-libs/aiokafka.git", "v0.14.0"),
    version="3.9",
    options=("--brokers", "1", "--config", "num.partitions=2", *AT_ONCE),
    packages=("docker", "async-timeout", "packaging", "pytest-mock"),
    overlay={"aiokafka_conftest.py": "tests/conftest.py"},
    prepare=(("rm", "-rf", "aiokafka"),),  # the library that is installed, which is compiled
    command=(*PYTEST, "-W", "default", "--ignore=tests/test_sasl.py", "tests"),
    only=PYTEST_ONLY,
    environment={"SUITE_SERVERS": "{servers}", "SUITE_VERSION": "{patch}"},
    read=of_pytest,
    accepted=(
        Accepted("*_ssl*", "needs the certificates of aiokafka's own image"),
        Accepted(
            "*test_coordinator__heartbeat_routine",
            "counts heartbeats in pauses of 0.15 s, with mocks and without a broker",
        ),
    ),
)

CONFLUENT_KAFKA: Final = Suite(
    name="confluent-kafka",
    source=Git("https://github.com/confluentinc/confluent-kafka-python.git", "v2.15.0"),
    version="4.2",
    options=(
        *("--brokers", "1", *AT_ONCE),
        *("--config", "group.share.record.lock.duration.ms=1000"),
        *("--config", "group.share.min.record.lock.duration.ms=1000"),
        *("--config", f"authorizer.class.name={STANDARD_AUTHORIZER}"),
        *("--config", "allow.everyone.if.no.acl.found=true"),
    ),
    packages=(
        *("trivup", "pytest-timeout", "requests-mock", "respx", "async-timeout"),
        *("confluent-kafka[avro,json,protobuf,schemaregistry,rules]",),
    ),
    prepare=(("rm", "-rf", "src"),),
    command=(
        *(*PYTEST, "--timeout=300", "tests/integration", "-k", "not schema_registry"),
        "--ignore=tests/integration/schema_registry",
        "--ignore=tests/integration/share_consumer_oauth",
        "--ignore=tests/integration/share_consumer_sasl",
    ),
    only=PYTEST_ONLY,
    environment={"BROKERS": "{servers}"},
    read=of_pytest,
    accepted=(
        Accepted("*test_describe_operations*sasl_cluster*", "starts brokers of its own with SASL"),
    ),
)

LIBRDKAFKA: Final = Suite(
    name="librdkafka",
    source=Git("https://github.com/confluentinc/librdkafka.git", "v2.15.0"),
    options=(
        *("--config", "num.partitions=4"),
        *("--config", f"authorizer.class.name={STANDARD_AUTHORIZER}"),
        *("--config", "allow.everyone.if.no.acl.found=true"),
    ),
    prepare=(
        ("cmake", "-S", ".", "-B", "build", "-DWITH_CURL=OFF", "-DWITH_SASL=OFF"),
        ("cmake", "--build", "build", "--target", "test-runner", "--parallel"),
    ),
    folder="tests",
    command=("../build/tests/test-runner", "-p2", "-Q"),
    environment={
        "RDKAFKA_TEST_CONF": "{conf}",
        "TEST_KAFKA_VERSION": "{patch}",
        "TEST_REPORT": "{report}",
        "TESTS": "{tests}",
        "TESTS_SKIP": "0000",  # needs no cluster
    },
    conf="metadata.broker.list={servers}\ntest.timeout.multiplier=4\n",
    read=of_librdkafka,
    accepted=(
        *(
            Accepted(tests, "runs Kafka's own scripts")
            for tests in ("0052_*", "0077_*", "0109_*", "0115_*", "0119_*")
        ),
        Accepted("0066_plugins", "loads a library that CMake does not build"),
        Accepted(
            "0114_sticky_partitioning", "names a topic by its source's path, absolute with CMake"
        ),
        Accepted("0182_*", "counts requests to librdkafka's own mock cluster within 3 s"),
    ),
)

SUITES: Final = {
    suite.name: suite
    for suite in (
        FRANZ_GO,
        SARAMA,
        KAFKA_GO,
        KAFKA_PYTHON,
        AIOKAFKA,
        CONFLUENT_KAFKA,
        LIBRDKAFKA,
    )
}
