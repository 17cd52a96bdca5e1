"""docs/statements.md: the command language, rendered from the statements' declarations."""

from collections.abc import Iterator
from typing import Final

import click

from commands.language.declaration import Statement
from commands.language.grammar import leaves, program
from sessions.grammar.clauses import FIELDS

HEAD: Final = """\
# Statements

Use these statements in scripts, and after `:` in the console; recordings store them too. To print
the help of a single statement, run for example `tidegauge statements produce`.

- A script is a UTF-8 text file, usually called `NAME.tide`, with one statement per line. Words are
  split as in a POSIX shell, `#` starts a comment, and a line that ends in `\\` continues on the
  next one. `-c` accepts statements separated by `;`.
- Times are written `250ms`, `2s`, `3m`, `1h`; offsets, ids and counts are whole numbers.
- A topic-partition is written `orders-0`, a replica `orders-0@2` (partition, then broker). Hosts in
  network statements are a broker id, `zk`, or `clients`.
- `${NAME}` and `${NAME:-DEFAULT}` are replaced by the value that `--set NAME=VALUE` gives.

A condition is `LEFT OP RIGHT [and LEFT OP RIGHT]..`. OP is one of `== != < <= > >= in contains`.
RIGHT is a whole number, a word, `[1,2]` or another LEFT. LEFT is one of:

| LEFT | refers to |
|--|--|
| `orders-0.FIELD` | a partition, according to its znode and its leader; FIELD is {partition} |
| `orders-0@2.FIELD` | that replica's own state: {replica} |
| `controller.FIELD` | {controller} |
| `broker.2.FIELD` | {broker} |
| `zk./path.FIELD` | a znode: {zk} |
| `producer.p1.FIELD` | {producer} |
| `consumer.c1.FIELD` | {consumer} |
| `fault.1.FIELD` | a fault of `inject`, how often it came and will come: {fault} |
| `audit.FIELD` | numbers of records: {audit} |
| a word alone | {cluster} |

This page is rendered from the declarations that parse the statements
(`tidegauge statements --markdown > docs/statements.md`).
"""


def statements_page() -> str:
    """Render docs/statements.md as Markdown."""
    head = HEAD
    for kind, fields in FIELDS.items():
        head = head.replace(f"{{{kind}}}", ", ".join(f"`{field}`" for field in fields))
    sections = (line for name, command in leaves(program()) for line in _section(name, command))
    return "\n".join((head, *sections))


def _section(name: str, command: click.Command) -> Iterator[str]:
    yield f"## {name}"
    yield ""
    yield f"`{' '.join((name, *(_usage(param) for param in command.params)))}`"
    yield ""
    yield " ".join((command.help or "").split())
    yield ""
    described = [(param, text) for param in command.params if (text := help_of(param))]
    if described:
        yield "| word | meaning |"
        yield "|--|--|"
        yield from (f"| `{_cell(_written(param))}` | {_cell(text)} |" for param, text in described)
        yield ""
    if isinstance(command, Statement) and command.terms is not None:
        title, words = command.terms()
        yield f"| {title.lower()} | meaning |"
        yield "|--|--|"
        yield from (f"| `{_cell(word)}` | {_cell(text)} |" for word, text in words)
        yield ""


def help_of(param: click.Parameter) -> str:
    """Return the help text of a word or an option."""
    return (param.help or "") if isinstance(param, click.Argument | click.Option) else ""


def _usage(param: click.Parameter) -> str:
    word = _written(param)
    many = ".." if param.nargs == -1 or param.multiple else ""
    return f"{word}{many}" if param.required else f"[{word}]{many}"


def _written(param: click.Parameter) -> str:
    if not isinstance(param, click.Option):
        return str(param.metavar)
    return param.opts[0] if param.is_flag else f"{param.opts[0]} {param.metavar}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
