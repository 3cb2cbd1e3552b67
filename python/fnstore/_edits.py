"""Edits by name: each becomes a line of ``schema/edit.md``, is checked at once, and is committed with the others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import TracebackType

from ._fnstore import Edits

#: A name or a number; ``"@name"`` for what an earlier edit calls so.
Reference = str | int
#: What takes a name or a number.
_REFERENCES = {"frame", "lu", "parent", "child", "relation", "semtype"}
#: First code point and the one past the last.
Span = tuple[int, int]


class Transaction:
    """Edits of one release, to be used in a ``with`` statement: committed at its end, or not at all.

    It holds the writer's lock from beginning to end. A refused edit raises an EditError and changes nothing.
    """

    def __init__(self, edits: Edits) -> None:
        self._edits = edits
        self._ended = False
        #: The store's revision, once it is committed.
        self.revision: int | None = None

    def __enter__(self) -> Transaction:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.abort()
        elif not self._ended:
            self.commit()

    def commit(self) -> int:
        """Writes all edits; gives the store's revision."""
        self._ended = True
        self.revision = self._edits.commit()
        return self.revision

    def abort(self) -> None:
        """Ends the transaction; nothing is written."""
        self._ended = True
        self._edits.abort()

    def edit(self, op: str, /, **fields: object) -> str:
        """Makes an edit of ``schema/edit.md``, as in ``edit("add-frame", name="Proofing")``; gives the record's id.

        What is None is left out. ``name_as`` is the edit's ``as``.
        """
        line: dict[str, object] = {"op": op}
        for name, value in fields.items():
            # An id that an edit gave is a number in digits.
            if name in _REFERENCES and isinstance(value, str) and value.isdigit():
                value = int(value)
            if value is not None:
                line["as" if name == "name_as" else name] = value
        return self._edits.edit(json.dumps(line))

    def add_frame(
        self, name: str, *, definition: str = "", elements: Sequence[str] = (), another: bool = False
    ) -> str:
        """Adds a frame with frame elements of these names; with ``another`` beside one of that name in other case."""
        made = [{"name": element} for element in elements]
        return self.edit("add-frame", name=name, definition=definition, elements=made, another=another)

    def add_lu(
        self, frame: Reference, name: str, *, definition: str = "", status: str | None = None, another: bool = False
    ) -> str:
        """Adds an LU to a frame, as in ``add_lu("Checking", "peruse.v")``; with ``another`` beside one of that name."""
        return self.edit("add-lu", frame=frame, name=name, definition=definition, status=status, another=another)

    def add_sentence(self, text: str) -> str:
        """Adds a sentence."""
        return self.edit("add-sentence", text=text)

    def add_set(
        self,
        sentence: str,
        frame: Reference,
        lu: Reference,
        targets: Sequence[Span],
        elements: Sequence[Mapping[str, object]] = (),
    ) -> str:
        """Adds an annotation set; an element is ``{"name": ..., "span": (start, end), "gf": ..., "pt": ...}``."""
        spans, made = [list(span) for span in targets], [dict(element) for element in elements]
        return self.edit("add-set", sentence=sentence, frame=frame, lu=lu, targets=spans, elements=made)

    def judge(
        self, set: str, score: int, *, reviewer: str | None = None, note: str = "", question: str | None = None
    ) -> str:
        """Writes down what a reviewer says of a set, from 0, wrong, to 100, right."""
        return self.edit("judge", set=set, score=score, reviewer=reviewer, note=note, question=question)

    def remove(self, kind: str, *, cascade: bool = False, **names: Reference) -> str:
        """Removes a record, as in ``remove("lu", frame="Checking", lu="peruse.v")``."""
        return self.edit(f"remove-{kind}", cascade=cascade or None, **names)
