"""HTML files that contain everything they need, and may load, apply and run nothing else."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from sessions.report.markup import Element, element

POLICY: Final = (
    "default-src 'none'; style-src {styles}; script-src {scripts}; img-src data:; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""What a browser may load, apply and run: nothing but what is in the page, known by its hash.

Not even the page's own scripts can make markup, code or style sheets out of text.
"""


def head(title: str, styles: Sequence[Path], scripts: Sequence[Path] = ()) -> Element:
    """Return the ``head``, with the styles in it and a policy that admits these files alone."""
    policy = POLICY.format(styles=_sources(styles), scripts=_sources(scripts))
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        *(element("style", _text(style)) for style in styles),
    )


def script_elements(scripts: Sequence[Path]) -> Iterator[Element]:
    """Yield the scripts, for the end of the ``body``."""
    return (element("script", _text(script)) for script in scripts)


def _sources(files: Sequence[Path]) -> str:
    """Return the source expressions of inline scripts or styles."""
    if not files:
        return "'none'"
    digests = (sha256(_text(file).encode()).digest() for file in files)
    return " ".join(f"'sha256-{b64encode(digest).decode()}'" for digest in digests)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
