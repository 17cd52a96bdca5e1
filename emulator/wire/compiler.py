"""Readers and writers of messages, generated from their declarations.

A reader and a writer for each message and version are generated on first use, as Python source with
everything known in advance resolved: the fields of the version, the nullable ones, and the adjacent
fixed-size fields that are read in one call. The reader of FetchRequest 11 looks like this::

    def read(data, at):
        size = len(data)
        v1, v2, v3, v4, v5, v6, v7, v8 = UNPACK_1(data, at)
        at += 29
        ...
        return FetchRequest(None, v1, REPLICASTATE, v2, v3, v4, v5, v6, v7, v9, v10, v11), at

Readers do not trust their input: a length is checked against the rest of the frame before it is
used. A reader of requests also limits the number of items in all lists together, because a few
bytes can become an object of hundreds. They raise MalformedFrame; or IndexError and struct.error if
the frame ends early, which the codec converts to MalformedFrame.
"""

import struct
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

from emulator.wire.exceptions import MalformedFrame
from emulator.wire.schema import Array, Field, Kind, fields_in, fields_of, smallest, tagged_in
from emulator.wire.types import Message, Number, Sized
from emulator.wire.varints import ONE_BYTE, read_unsigned_varint, unsigned_varint

Reader = Callable[[bytes, int], tuple[Any, int]]
"""Returns the message that starts at an offset, and its end."""
Writer = Callable[[Any], bytes]
UnknownTags = list[tuple[int, bytes]]
"""Tagged fields that a message does not declare: the number and the bytes of each."""
REMEMBERED_MAX: Final = 4_096
REMEMBERED_BYTES_MAX: Final = 128
"""How many tagged sections at the end of a message are remembered, and up to which size."""


@cache
def reader(
    message: type[Message], version: int, *, flexible: bool, items_max: int | None = None
) -> Reader:
    """Return the reader of one version of a message; lists of numbers do not count as items."""
    return _ReaderSource(version, flexible, items_max).compiled(message)


@cache
def keeping_reader(message: type[Message], version: int) -> tuple[Reader, UnknownTags]:
    """Return a reader of one flexible version, and the list of the unknown tagged fields it met.

    Its caller empties the list. It reads equal tagged sections at the end of messages only once:
    millions of records name the same few replicas.
    """
    source = _ReaderSource(version, flexible=True, items_max=None)
    unknown: UnknownTags = []
    source.constants |= {
        "skip_tags": partial(_keep_tags, unknown),
        "keep": lambda tag, value: unknown.append((tag, value)),
        "unknown": unknown,
    }
    source.keeps_unknown = True
    return source.compiled(message), unknown


@cache
def writer(message: type[Message], version: int, *, flexible: bool) -> Writer:
    """Return the writer of one version of a message."""
    return _WriterSource(version, flexible).compiled(message)


class _Source:
    """Generated Python source and its constants."""

    def __init__(self, version: int, flexible: bool) -> None:
        self.version = version
        self.flexible = flexible
        self.lines: list[str] = []
        self.depth = 1
        self.names = 0
        self.constants: dict[str, Any] = {}
        self.functions: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def constant(self, value: Any, stem: str) -> str:  # noqa: ANN401 - anything
        name = f"{stem}_{len(self.constants)}"
        self.constants[name] = value
        return name

    def default(self, field: Field) -> str:
        """The default as an expression; a list is created each time."""
        if isinstance(field.default, Message):
            return self.constant(field.default, "DEFAULT")
        return repr(field.default)

    def run(self, function: str) -> Any:  # noqa: ANN401 - the function of that name
        source = "\n".join([*self.functions, *self.lines])
        exec(compile(source, f"<{type(self).__name__} {self.version}>", "exec"), self.constants)
        return self.constants[function]


class _ReaderSource(_Source):
    """Collects adjacent fixed-size fields in ``pending`` until another field has to be read."""

    def __init__(self, version: int, flexible: bool, items_max: int | None) -> None:
        super().__init__(version, flexible)
        self.items_max = items_max
        self.keeps_unknown = False
        self.pending: list[tuple[str, str]] = []
        self.constants |= {
            "bad": _malformed,
            "too_many": _too_many,
            "varint": read_unsigned_varint,
            "skip_tags": skip_tags,
            "numbers": struct.unpack_from,
        }

    def compiled(self, message: type[Message]) -> Reader:
        self.lines = ["def read(data, at):", "    size = len(data)"]
        if self.items_max is not None:
            self.line(f"left = {self.items_max}")
        made = self.structure(message)
        self.flush()
        self.line(f"return {made}, at")
        function: Reader = self.run("read")
        return function

    @property
    def left(self) -> str:
        """The number of items that may follow, behind other arguments; empty: it is not limited."""
        return "" if self.items_max is None else ", left"

    def fixed(self, code: str) -> str:
        name = self.name()
        self.pending.append((code, name))
        return name

    def flush(self) -> None:
        if not self.pending:
            return
        codes = ">" + "".join(code for code, _ in self.pending)
        unpack = self.constant(struct.Struct(codes).unpack_from, "UNPACK")
        self.line(f"{', '.join(name for _, name in self.pending)}, = {unpack}(data, at)")
        self.line(f"at += {struct.calcsize(codes)}")
        self.pending.clear()

    def structure(self, message: type[Message]) -> str:
        """Read all fields, and return the expression that creates the structure."""
        values = {f.name: self.field(f) for f in fields_in(message, self.version)}
        if self.flexible:
            values |= self.tagged(tagged_in(message, self.version))
        arguments = (values.get(f.name) or self.default(f) for f in fields_of(message))
        return f"{self.constant(message, message.__name__)}({', '.join(arguments)})"

    def field(self, field: Field) -> str:
        return self.value(field.kind, nullable=field.is_nullable(self.version))

    def value(self, kind: Kind, *, nullable: bool) -> str:
        if isinstance(kind, Number):
            return self.fixed(kind.code)
        if isinstance(kind, Sized):
            return self.sized(kind, nullable=nullable)
        if isinstance(kind, Array):
            return self.array(kind.item, nullable=nullable)
        return self.nullable_structure(kind) if nullable else self.structure(kind)

    def length(self, code: str) -> str:
        """Read a length; -1 means null in both encodings."""
        name = self.fixed("B" if self.flexible else code)
        self.flush()
        if self.flexible:
            self.line(f"if {name} > 127: {name}, at = varint(data, at - 1)")
            self.line(f"{name} -= 1")
        return name

    def sized(self, kind: Sized, *, nullable: bool) -> str:
        length = self.length("h" if kind is Sized.STRING else "i")
        value = self.name()
        taken = "data[at:end]"
        if kind is Sized.STRING:
            # As Kafka's readString: invalid UTF-8 is replaced by U+FFFD without an error.
            taken += ".decode('utf-8', 'replace')"
        if nullable:
            self.line(f"if {length} == -1: {value} = None")
            self.line("else:")
            self.depth += 1
        self.line(f"end = at + {length}")
        self.line(f"if {length} < 0 or end > size: bad({length}, at, size)")
        self.line(f"{value} = {taken}")
        self.line("at = end")
        if nullable:
            self.depth -= 1
        return value

    def array(self, item: Kind, *, nullable: bool) -> str:
        count = self.length("i")
        items = self.name()
        if nullable:
            self.line(f"if {count} == -1: {items} = None")
            self.line("else:")
            self.depth += 1
        fewest = max(1, smallest(item, self.version, flexible=self.flexible))
        self.line(f"if {count} < 0 or at + {count} * {fewest} > size: bad({count}, at, size)")
        if isinstance(item, Number):
            self.line(f"{items} = list(numbers({_repeated(item, count)}, data, at))")
            self.line(f"at += {count} * {item.size}")
        else:
            if self.items_max is not None:
                self.line(f"left -= {count}")
                self.line(f"if left < 0: too_many({self.items_max})")
            self.line(f"{items} = []")
            self.line(f"for _ in range({count}):")
            self.depth += 1
            made = self.value(item, nullable=False)
            self.flush()
            self.line(f"{items}.append({made})")
            self.depth -= 1
        if nullable:
            self.depth -= 1
        return items

    def nullable_structure(self, message: type[Message]) -> str:
        present = self.fixed("b")
        self.flush()
        value = self.name()
        self.line(f"if {present} < 0: {value} = None")
        self.line("else:")
        self.depth += 1
        made = self.structure(message)
        self.flush()
        self.line(f"{value} = {made}")
        self.depth -= 1
        return value

    def tagged(self, fields: tuple[Field, ...]) -> dict[str, str]:
        """Read the tagged fields: almost always a single byte that says there are none."""
        count = self.fixed("B")
        self.flush()
        if not fields:
            self.line(f"if {count}: at = skip_tags(data, at - 1)")
            return {}
        names = {field.name: self.name() for field in fields}
        function, left = self.tags_function(fields), self.left
        listed = ", ".join(names.values())
        if self.keeps_unknown:
            self.remembered_tags(count, listed, function)
        else:
            self.line(f"if {count}: {listed}, at{left} = {function}(data, at - 1{left})")
        for field in fields:
            default = f"{names[field.name]} = {self.default(field)}"
            self.line(f"else: {default}" if field is fields[0] else f"if not {count}: {default}")
        return names

    def remembered_tags(self, count: str, listed: str, function: str) -> None:
        """Read a tagged section unless an equal one, which ended a message, was read before."""
        remembered = self.constant({}, "REMEMBERED")
        self.line(f"if {count}:")
        self.depth += 1
        self.line("rest = data[at - 1:]")
        self.line(f"known = {remembered}.get(rest)")
        self.line(f"if known is not None: ({listed},), at = known, size")
        self.line("else:")
        self.depth += 1
        self.line(f"{listed}, at = {function}(data, at - 1)")
        small = f"len(rest) <= {REMEMBERED_BYTES_MAX} and len({remembered}) < {REMEMBERED_MAX}"
        self.line(f"if at == size and not unknown and {small}: {remembered}[rest] = ({listed},)")
        self.depth -= 2

    def tags_function(self, fields: tuple[Field, ...]) -> str:
        outer, outer_depth, self.lines, self.depth = self.lines, self.depth, [], 1
        name = f"tags_{len(self.functions)}"
        self.lines.append(f"def {name}(data, at{self.left}):")
        self.line("count, at = varint(data, at)")
        results = {field.name: self.name() for field in fields}
        for field in fields:
            self.line(f"{results[field.name]} = {self.default(field)}")
        self.line("for _ in range(count):")
        self.depth += 1
        self.line("tag, at = varint(data, at)")
        self.line("length, at = varint(data, at)")
        self.line("until = at + length")
        self.line("if until > len(data): bad(length, at, len(data))")
        self.line("size = until")
        for field in fields:
            self.line(f"if tag == {field.tag}:")
            self.depth += 1
            made = self.field(field)
            self.flush()
            self.line(f"{results[field.name]} = {made}")
            self.line("if at != until: bad(length, at, size)")
            self.depth -= 1
        if self.keeps_unknown:
            known = tuple(field.tag for field in fields)
            self.line(f"if tag not in {known}: keep(tag, data[at:until])")
        self.line("at = until")
        self.depth -= 1
        self.line(f"return {', '.join(results.values())}, at{self.left}")
        self.functions.append("\n".join(self.lines))
        self.lines, self.depth = outer, outer_depth
        return name


class _WriterSource(_Source):
    """Collects adjacent fixed-size fields, as (code, expression), until another field follows."""

    def __init__(self, version: int, flexible: bool) -> None:
        super().__init__(version, flexible)
        self.pending: list[tuple[str, str]] = []
        self.constants |= {
            "BYTE": ONE_BYTE,
            "varint": unsigned_varint,
            "tags": _written_tags,
            "numbers": struct.pack,
        }

    def compiled(self, message: type[Message]) -> Writer:
        self.lines = ["def write(m):", "    out = []", "    add = out.append"]
        self.structure(message, "m")
        self.flush()
        self.line("return b''.join(out)")
        function: Writer = self.run("write")
        return function

    def flush(self) -> None:
        if not self.pending:
            return
        if all(expression == "0" for _, expression in self.pending):
            self.line(f"add({bytes(len(self.pending))!r})")  # empty sections of tagged fields
        else:
            codes = ">" + "".join(code for code, _ in self.pending)
            pack = self.constant(struct.Struct(codes).pack, "PACK")
            self.line(f"add({pack}({', '.join(expression for _, expression in self.pending)}))")
        self.pending.clear()

    def structure(self, message: type[Message], value: str) -> None:
        for field in fields_in(message, self.version):
            self.value(
                field.kind, f"{value}.{field.name}", nullable=field.is_nullable(self.version)
            )
        if self.flexible:
            self.tagged(tagged_in(message, self.version), value)

    def value(self, kind: Kind, value: str, *, nullable: bool) -> None:
        if isinstance(kind, Number):
            self.pending.append((kind.code, value))
        elif isinstance(kind, Sized):
            self.sized(kind, value, nullable=nullable)
        elif isinstance(kind, Array):
            self.array(kind.item, value, nullable=nullable)
        elif nullable:
            self.nullable_structure(kind, value)
        else:
            self.structure(kind, value)

    def length(self, code: str, name: str) -> None:
        if self.flexible:
            self.flush()
            self.line(f"{name} += 1")
            self.line(f"add(BYTE[{name}] if {name} < 128 else varint({name}))")
        else:
            self.pending.append((code, name))
            self.flush()

    def sized(self, kind: Sized, value: str, *, nullable: bool) -> None:
        taken, length = self.name(), self.name()
        self.line(f"{taken} = {value}")
        encode = f"{taken} = {taken}.encode()"
        if nullable:
            self.line(f"if {taken} is None: {taken} = b''; {length} = -1")
            self.line("else:")
            self.depth += 1
        if kind is Sized.STRING:
            self.line(encode)
        self.line(f"{length} = len({taken})")
        if nullable:
            self.depth -= 1
        self.length("h" if kind is Sized.STRING else "i", length)
        self.line(f"add({taken})")

    def array(self, item: Kind, value: str, *, nullable: bool) -> None:
        items, count, element = self.name(), self.name(), self.name()
        self.line(f"{items} = {value}")
        if nullable:
            self.line(f"if {items} is None: {items} = (); {count} = -1")
            self.line(f"else: {count} = len({items})")
        else:
            self.line(f"{count} = len({items})")
        self.length("i", count)
        if isinstance(item, Number):
            self.line(f"add(numbers({_repeated(item, f'len({items})')}, *{items}))")
            return
        self.line(f"for {element} in {items}:")
        self.depth += 1
        self.value(item, element, nullable=False)
        self.flush()
        self.depth -= 1

    def nullable_structure(self, message: type[Message], value: str) -> None:
        self.flush()
        taken = self.name()
        self.line(f"{taken} = {value}")
        self.line(f"if {taken} is None: add(b'\\xff')")
        self.line("else:")
        self.depth += 1
        self.pending.append(("b", "1"))
        self.structure(message, taken)
        self.flush()
        self.depth -= 1

    def tagged(self, fields: tuple[Field, ...], value: str) -> None:
        if not fields:
            self.pending.append(("B", "0"))
            return
        self.flush()
        differs = {f.name: f"{value}.{f.name} != {self.default(f)}" for f in fields}
        self.line(f"if {' or '.join(differs.values())}:")
        parts = (
            f"({f.tag}, {self.tag_function(f)}({value}.{f.name}) if {differs[f.name]} else None)"
            for f in fields
        )
        self.line(f"    add(tags([{', '.join(parts)}]))")
        self.line("else: add(b'\\x00')")

    def tag_function(self, field: Field) -> str:
        outer, outer_depth, self.lines, self.depth = self.lines, self.depth, [], 1
        name = f"tag_{len(self.functions)}"
        self.lines.append(f"def {name}(m):")
        self.line("out = []")
        self.line("add = out.append")
        self.value(field.kind, "m", nullable=field.is_nullable(self.version))
        self.flush()
        self.line("return b''.join(out)")
        self.functions.append("\n".join(self.lines))
        self.lines, self.depth = outer, outer_depth
        return name


def _repeated(item: Number, count: str) -> str:
    """The format of so many numbers; a code such as ``16s`` cannot be preceded by a count."""
    return (
        f"'>%d{item.code}' % {count}" if len(item.code) == 1 else f"'>' + '{item.code}' * {count}"
    )


def _malformed(length: int, at: int, size: int) -> None:
    raise MalformedFrame(f"a length of {length} at byte {at} of {size}")


def _too_many(items_max: int) -> None:
    raise MalformedFrame(f"more than {items_max:,} items")


def skip_tags(data: bytes, at: int) -> int:
    """Return the end of a section of tagged fields, all of which are unknown."""
    count, at = read_unsigned_varint(data, at)
    for _ in range(count):
        _, at = read_unsigned_varint(data, at)
        length, at = read_unsigned_varint(data, at)
        at += length
    return at


def _keep_tags(unknown: UnknownTags, data: bytes, at: int) -> int:
    """As :func:`skip_tags`, but the fields are put into a list."""
    count, at = read_unsigned_varint(data, at)
    for _ in range(count):
        tag, at = read_unsigned_varint(data, at)
        length, at = read_unsigned_varint(data, at)
        if length > len(data) - at:
            _malformed(length, at, len(data))
        unknown.append((tag, data[at : at + length]))
        at += length
    return at


def _written_tags(values: list[tuple[int, bytes | None]]) -> bytes:
    given = [(number, value) for number, value in values if value is not None]
    written = [unsigned_varint(len(given))]
    for number, value in given:
        written += (unsigned_varint(number), unsigned_varint(len(value)), value)
    return b"".join(written)
