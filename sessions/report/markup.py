"""HTML and SVG as trees, so that text can never become markup."""

from collections.abc import Iterable
from xml.etree import ElementTree

from sessions.text import without_controls

Element = ElementTree.Element
Content = str | Element | None
"""What an element contains; None: nothing."""
Attribute = str | float | None
"""An attribute's value; None leaves the attribute out."""


def element(tag: str, *content: Content, **attributes: Attribute) -> Element:
    """An element; ``class_`` is ``class``, and ``_`` in other names is ``-``."""
    by_name = {_name(name): _text(value) for name, value in attributes.items() if value is not None}
    created = Element(tag, by_name)
    extend(created, content)
    return created


def extend(parent: Element, content: Iterable[Content]) -> None:
    """Put more into an element."""
    for item in content:
        if isinstance(item, str):
            if len(parent):
                parent[-1].tail = (parent[-1].tail or "") + item
            else:
                parent.text = (parent.text or "") + item
        elif item is not None:
            parent.append(item)


def document(root: Element) -> str:
    """A whole page; control characters and surrogates, which HTML cannot have, are escaped."""
    body = ElementTree.tostring(root, encoding="unicode", method="html", short_empty_elements=False)
    return f"<!DOCTYPE html>\n{without_controls(body)}\n"


def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _text(value: Attribute) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
