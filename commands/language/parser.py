"""Parse scripts, ``-c`` texts and single lines into statements, all checked before any is run."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from commands.exits import CommandError, ExitCode
from commands.language.grammar import Meaning, meaning
from commands.language.images import is_image, relative_to
from commands.language.lexer import Line, Word, split_lines, split_words, variables_in
from commands.language.statements.cluster import Include
from commands.language.statements.show import Show
from commands.language.statements.time import At
from emulator.inputs.statements import CreateCluster, ExpectError, Statement
from emulator.releases.config import ConfigError, resolve
from sessions.file_system import read_regular, resolve_inside
from sessions.format.nearest import nearest_file
from sessions.grammar.words import BadWord

COMMAND_LINE: Final = "-c"
"""The name of a ``-c`` text in error messages."""
NO_PLACE: Final = ""
"""The name of a text in error messages that need none: a console line, or options alone."""
INCLUDE_DEPTH_MAX: Final = 20
SCRIPT_SUFFIX: Final = ".tide"
SCRIPT_BYTES_MAX: Final = 1 << 24
"""Maximum length of a script: enough for a statement every second for half a year."""


class ShowStatement(Struct, frozen=True):
    """A ``show`` with its source text and line; it does not involve the cluster."""

    show: Show
    text: str
    line: int = 0


class AtStatement(Struct, frozen=True):
    """An ``at`` with its source text and line; it is addressed to the script runner."""

    at: At
    text: str
    line: int = 0


Step = Statement | ShowStatement | AtStatement


class Script(Struct, frozen=True):
    """A checked script: its name in errors, its ``cluster`` statement, and all others in order.

    ``unused`` lists the given variables that the script does not use.
    """

    name: str
    cluster: Statement
    steps: tuple[Step, ...]
    unused: tuple[str, ...] = ()

    @property
    def spec(self) -> CreateCluster:
        assert isinstance(self.cluster.input, CreateCluster)
        return self.cluster.input

    def followed_by(self, steps: Sequence[Step]) -> "Script":
        """Return the script with more statements at its end."""
        return replace(self, steps=(*self.steps, *steps))


class ScriptError(CommandError):
    """A script that does not parse: one line per problem, ``FILE:LINE:COLUMN: what is wrong``.

    ``column`` is that of the first problem, from 1, for a line that does not come from a file.
    """

    def __init__(
        self, problems: Sequence[str], code: ExitCode = ExitCode.USAGE, column: int = 1
    ) -> None:
        super().__init__(code, "\n".join(problems))
        self.problems = list(problems)
        self.column = column


class _Parsed(Struct, frozen=True):
    """A statement with its source position and its parsed value."""

    meaning: Meaning
    text: str
    source: str
    line: int
    column: int


class _Reader:
    """Reads a text and the files it includes, and collects problems."""

    def __init__(self, variables: Mapping[str, str], inside: Path | None = None) -> None:
        self.variables = variables
        self.inside = inside
        self.asked: set[str] = set()
        self.problems: list[str] = []
        self.column = 0
        self.code = ExitCode.USAGE

    def read(
        self, text: str, source: str, folder: Path, trail: tuple[Path, ...]
    ) -> Iterator[_Parsed]:
        for line in split_lines(text, semicolons=source in (COMMAND_LINE, NO_PLACE)):
            with relative_to(folder):
                statement = self._statement(line, source)
            if statement and isinstance(statement.meaning, Include):
                yield from self._included(statement, folder, trail)
            elif statement:
                yield statement

    def problem(self, source: str, position: tuple[int, int], message: str) -> None:
        line, column = position
        self.column = self.column or column
        self.problems.append(f"{source}:{line}:{column}: {message}" if source else message)

    def _statement(self, source_line: Line, source: str) -> _Parsed | None:
        line, words = source_line, list[Word]()
        try:
            self.asked |= variables_in(line.text)
            line = line.with_values(self.variables)
            words = split_words(line.text)
            parsed = meaning(words) if words else None
        except BadWord as error:
            position = line.position_of(_offset(error.word, line.text, words))
            self.problem(source, position, str(error))
            return None
        return _Parsed(parsed, line.text, source, *line.position_of(0)) if parsed else None

    def _included(self, at: _Parsed, folder: Path, trail: tuple[Path, ...]) -> Iterator[_Parsed]:
        assert isinstance(at.meaning, Include)
        path = folder / at.meaning.path
        refused = _not_to_be_run(path, trail, self.inside)
        if refused:
            self.problem(at.source, (at.line, at.column), f"'{at.meaning.path}' {refused}")
            return
        try:
            text = read_text(path)
        except CommandError as error:
            self.problem(at.source, (at.line, at.column), error.message)
            self.code = error.code
            return
        for statement in self.read(text, str(path), path.parent, (*trail, path.resolve())):
            if not isinstance(statement.meaning, CreateCluster):
                yield statement


def _not_to_be_run(path: Path, trail: tuple[Path, ...], inside: Path | None) -> str:
    """Return why ``run`` in a script must not read a file, or an empty string.

    With ``inside`` it may only read files below that folder.

    A script may come from an untrusted source. Errors quote text that does not parse, so ``run``
    may only name scripts: otherwise it could print any file that its user can read.
    """
    if inside is not None:
        try:
            resolve_inside(str(path.absolute()), inside)
        except OSError as error:
            return f"is not run: {error.strerror}"
    if path.resolve() in trail:
        return "would run itself"
    if len(trail) >= INCLUDE_DEPTH_MAX:
        return f"is not run: scripts run one another at most {INCLUDE_DEPTH_MAX} deep"
    if path.suffix != SCRIPT_SUFFIX or path.resolve().suffix != SCRIPT_SUFFIX:
        return f"is not run: a script runs only files named *{SCRIPT_SUFFIX}"
    return ""


def parse_script(
    text: str,
    source: str,
    variables: Mapping[str, str] | None = None,
    cluster_options: Sequence[str] = (),
) -> Script:
    """Parse a whole script; ``source`` is its path, ``-`` or ``-c``.

    ``source`` is :data:`NO_PLACE` if the text has only what options say.
    ``cluster_options`` are words that override those of the ``cluster`` line, such as
    ``--version 2.0.1``.

    Raises:
        ScriptError: anything is wrong; it lists every problem.
    """
    reader = _Reader(variables or {})
    is_file = source not in (COMMAND_LINE, "-", NO_PLACE)
    path = Path(source) if is_file else Path()
    trail = (path.resolve(),) if is_file else ()
    statements = list(reader.read(text, source, path.parent if is_file else path, trail))
    _check_cluster(statements, source, reader)
    with relative_to(path.parent if is_file else path):
        cluster = _cluster(statements, cluster_options, reader)
    if cluster is None or reader.problems:
        raise ScriptError(reader.problems, reader.code)
    unused = tuple(sorted(reader.variables.keys() - reader.asked))
    return Script(source, cluster, tuple(_steps(statements[1:])), unused)


def parse_line(
    text: str, variables: Mapping[str, str] | None = None, inside: Path | None = None
) -> list[Step]:
    """Parse a line for an existing cluster: statements, separated by ``;``.

    With ``inside``, names of files are relative to that folder, and must stay in it.

    Raises:
        ScriptError: the line is wrong, or is a ``cluster`` statement.
    """
    reader = _Reader(variables or {}, inside)
    statements = list(reader.read(text, NO_PLACE, inside or Path(), ()))
    problems = list(reader.problems)
    if any(isinstance(statement.meaning, CreateCluster) for statement in statements):
        problems.append(
            "a cluster already exists; 'cluster' must be the first statement of a script"
        )
    if any(isinstance(statement.meaning, At) for statement in statements):
        problems.append("'at' works only in scripts; use 'wait' to let time pass")
    if problems:
        raise ScriptError(problems, reader.code, reader.column or 1)
    return _steps(statements)


SESSIONS: Final = ".tide.db"
"""How the names of recordings end."""


def read_text(path: Path) -> str:
    """Read a script's text; an image is a script that starts its cluster.

    Raises:
        CommandError: it cannot be read.
    """
    if is_image(path):
        return f"cluster --image {shlex.quote(path.name)}"
    if path.name.endswith(SESSIONS) and path.is_file():
        message = f"'{path}' is a recording, not a script; 'tidegauge replay {path}' opens it"
        raise CommandError(ExitCode.USAGE, message)
    try:
        text = read_regular(path, SCRIPT_BYTES_MAX).decode("utf-8-sig")
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        message = f"'{path}' is not UTF-8 text (byte {error.start + 1:,} is wrong)"
        raise CommandError(ExitCode.USAGE, message) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        hint = nearest_file(path) if isinstance(error, FileNotFoundError) else ""
        message = f"cannot read '{path}': {reason}{hint}"
        raise CommandError(ExitCode.UNREACHABLE, message) from None


def _offset(wrong: str | None, text: str, words: Sequence[Word]) -> int:
    """Return the position of a wrong word in a statement's text; 0 if it is unknown."""
    if wrong is None:
        return 0
    if isinstance(wrong, Word):
        return wrong.at
    for word in (*(candidate for candidate in words if candidate == wrong), *words):
        if wrong and wrong in word:
            return word.at + (word.index(wrong) if text.startswith(word, word.at) else 0)
    return max(0, text.find(wrong))


def _check_cluster(statements: Sequence[_Parsed], source: str, reader: _Reader) -> None:
    """Check that ``cluster`` is the first statement and occurs only once."""
    if reader.problems and not statements:
        return
    if not statements or not isinstance(statements[0].meaning, CreateCluster):
        position = (statements[0].line, statements[0].column) if statements else (1, 1)
        message = "the first statement must be 'cluster', such as cluster --brokers 3"
        reader.problem(source, position, message)
    for statement in statements[1:]:
        if isinstance(statement.meaning, CreateCluster):
            message = "'cluster' must be the first statement, and occur only once"
            reader.problem(statement.source, (statement.line, statement.column), message)


def _cluster(
    statements: Sequence[_Parsed], options: Sequence[str], reader: _Reader
) -> Statement | None:
    """Return the ``cluster`` statement with extra options appended: the last value of each wins."""
    if not statements or not isinstance(statements[0].meaning, CreateCluster):
        return None
    first = statements[0]
    added = " ".join(shlex.quote(word) for word in options)
    text = f"{first.text} {added}".rstrip()
    try:
        return Statement(_cluster_meaning(text), text, first.line)
    except (BadWord, ConfigError) as error:
        is_script = first.source != NO_PLACE
        blamed = f"with {added}: " if added and is_script and _is_cluster(first.text) else ""
        position = first.line, first.column
        reader.problem(first.source, position, blamed + str(error).removesuffix("."))
        return None


def _cluster_meaning(text: str) -> CreateCluster:
    """Parse a ``cluster`` statement and check its version and settings."""
    spec = meaning(split_words(text))
    assert isinstance(spec, CreateCluster)
    resolve(spec.version, spec.config)
    return spec


def _is_cluster(text: str) -> bool:
    try:
        _cluster_meaning(text)
    except (BadWord, ConfigError):
        return False
    return True


def _steps(statements: Sequence[_Parsed]) -> list[Step]:
    """Return the statements in order, each with the error that the next one expects of it."""
    return [_step(statement, after) for statement, after in zip_longest(statements, statements[1:])]


def _step(statement: _Parsed, after: _Parsed | None) -> Step:
    if isinstance(statement.meaning, Show):
        return ShowStatement(statement.meaning, statement.text, statement.line)
    if isinstance(statement.meaning, At):
        return AtStatement(statement.meaning, statement.text, statement.line)
    assert not isinstance(statement.meaning, Include)
    expected = after.meaning.error if after and isinstance(after.meaning, ExpectError) else ""
    return Statement(statement.meaning, statement.text, statement.line, expected)
