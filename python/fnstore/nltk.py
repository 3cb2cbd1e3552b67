"""A drop-in for ``nltk.corpus.framenet`` that reads a store.

>>> import fnstore.nltk
>>> fn = fnstore.nltk.framenet("store")             # doctest: +SKIP
>>> fn.frame("Revenge").FE["Avenger"].coreType      # doctest: +SKIP
'Core'

Everything is NLTK's own reader, with its functions, its objects and its printing; where it parses a file of FrameNet,
it gets the same file out of the store. docs/reference/from-nltk.md names what is different.
"""

from __future__ import annotations

import errno
import gc
import os
from collections.abc import Callable
from io import BytesIO
from types import FunctionType, TracebackType
from typing import Any, Literal
from xml.etree import ElementTree

from nltk.corpus.reader.framenet import AttrDict, FramenetCorpusReader, FramenetError
from nltk.data import PathPointer, SeekableUnicodeStreamReader

from ._errors import UnknownNameError
from ._fnstore import Database, FramenetFiles, Link, open

__all__ = ["FramenetError", "FramenetReader", "framenet", "install"]


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _tidy(sentence: ElementTree.Element) -> None:
    """Leaves out a label that stands twice, as of two FEs on one span: NLTK's reader would fail."""
    for layer in (child for made in sentence for child in made):
        seen = set()
        for label in list(layer) if layer.get("name") not in ("Sent", "Other") else ():
            what = (label.get("start"), label.get("end"), label.get("name"))
            if what in seen and label.get("start") is not None:
                layer.remove(label)
            seen.add(what)


class _View(list[Any]):
    """Elements of a file, in the place of NLTK's XMLCorpusView."""

    def __init__(self, place: _File, spec: str, handle: Callable[..., Any] | None = None) -> None:
        # All that is made here stays: Python need not look through it again and again for what does not.
        collects = gc.isenabled()
        gc.disable()
        try:
            root = ElementTree.fromstring(place.text())
            top, _, below = spec.partition("/")
            found = [root] if not below else [child for child in root if _tag(child) == below]
            for sentence in (child for child in root.iter() if _tag(child) == "sentence"):
                _tidy(sentence)
            super().__init__(found if handle is None else (handle(element, spec) for element in found))
        finally:
            if collects:
                gc.enable()

    def __enter__(self) -> _View:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class _Stored(PathPointer):  # type: ignore[misc]
    """What has a place in a store, and none in the file system."""

    def __init__(self, path: str, files: FramenetFiles) -> None:
        self.path, self._files = path, files

    def __fspath__(self) -> str:
        raise FramenetError(
            f"{self!r} is no path: read a file with fn.open(name), fn.raw(name) or fn.xml(name), make another reader with "
            "fnstore.nltk.framenet(store), or write all files to a directory with db.export(path, to='framenet-xml')"
        )

    def __add__(self, _: object) -> Any:
        return self.__fspath__()


class _Root(_Stored):
    """A store, in the place of NLTK's directory of a corpus."""

    def __repr__(self) -> str:
        return f"the store in {self.path}"

    def open(self, encoding: str | None = None) -> Any:
        raise FramenetError(f"{self!r} is no file; fn.open(name) opens one of its release")

    def file_size(self) -> int:
        return 0

    def join(self, fileid: str) -> _File:
        return _File(fileid.replace(os.sep, "/"), self._files)


class _File(_Stored):
    """A file of a release in a store, in the place of NLTK's path: ``lu/lu1001.xml``."""

    def __repr__(self) -> str:
        return f"{self.path} in a store"

    def text(self) -> str:
        """The file, made from the store's records."""
        xml = self._files.read(self.path)
        if xml is None:
            why = "the release has no such file; a store keeps its XML alone"
            raise FileNotFoundError(errno.ENOENT, why, self.path)
        return xml

    def open(self, encoding: str | None = None) -> Any:
        stream = BytesIO(self.text().encode())
        return stream if encoding is None else SeekableUnicodeStreamReader(stream, encoding)

    def file_size(self) -> int:
        return len(self.text().encode())

    def join(self, fileid: str) -> _File:
        return _File(f"{self.path}/{fileid}", self._files)


#: What NLTK's functions call to reach a file.
_INSTEAD = {"XMLCorpusView": _View, "_validate_in_root": lambda *_: None}


def _over_store(function: FunctionType) -> FunctionType:
    """A function of NLTK's reader that reads the store's files instead of a directory's."""
    made = FunctionType(
        function.__code__, function.__globals__ | _INSTEAD, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__, made.__doc__ = function.__kwdefaults__, function.__doc__
    return made


class _LeftOut(dict[str, bool]):
    """Whether NLTK's reader leaves an attribute out, by its name."""

    def __missing__(self, name: str) -> bool:
        found = self[name] = name.endswith(("xsi", "schemaLocation", "xmlns", "bgColor", "fgColor"))
        return found


_left_out = _LeftOut()

#: What a link says.
_OF_LINK = ("resource", "target", "role", "score", "source", "accepted")

#: Files that NLTK's own corpus is made of.
_FILEIDS = ["frRelation.xml", "frameIndex.xml", "fulltextIndex.xml", "luIndex.xml", "semTypes.xml"]


class FramenetReader(FramenetCorpusReader):  # type: ignore[misc]
    """NLTK's FramenetCorpusReader over a release of a store.

    With ``generated=True`` what people, imports and expansions added stands among the exemplars, in subcorpora that are
    called after its origin.
    """

    def __init__(self, database: Database, release: str | None = None, generated: bool = False) -> None:
        files = database._framenet(release, generated)
        super().__init__(_Root(os.fspath(database.path), files), _FILEIDS)
        self._database = database
        self._of = next(of for of in database.releases() if release is None or of.name.casefold() == release.casefold())
        #: Frames that annotation names and no file has, by number; 1.5 has some.
        self._frames_named: dict[int, Any] = {}

    def fileids(self) -> list[str]:
        """The files at the top of the release; ``open``, ``raw`` and ``xml`` take the others, too: ``lu/lu1001.xml``."""
        return [name for name in _FILEIDS if self._root._files.read(name) is not None]

    def _guard_fileid(self, fileid: str) -> _File:
        """The file of that name: what is in a store leads nowhere else."""
        place: _File = self._root.join(fileid)
        return place

    def abspath(self, fileid: str) -> _File:
        """The file of that name in the store: it can be opened, and is no path of the file system."""
        return self._guard_fileid(fileid)

    def abspaths(
        self, fileids: Any = None, include_encoding: bool = False, include_fileid: bool = False
    ) -> list[Any]:
        """As NLTK's, of the files of `fileids()` by default."""
        wanted = self.fileids() if fileids is None else fileids
        listed: list[Any] = super().abspaths(wanted, include_encoding, include_fileid)
        return listed

    def open(self, file: str) -> Any:
        """A file as it stood in the release, as a stream of characters."""
        return self._guard_fileid(file).open(self.encoding(file))

    def raw(self, fileids: Any = None) -> str:
        """Files as they stood in the release, one behind the other."""
        text: str = super().raw(self.fileids() if fileids is None else fileids)
        return text

    def readme(self) -> str:
        """What the store knows of the release: it keeps the XML of a release, and no README."""
        of = self._of
        counts = ", ".join(f"{count} {what}" for what, count in of.counts.items() if count)
        return f"{of.name}, read from {of.source} into {self._root!r}\n{counts}\n"

    def _load_xml_attributes(self, d: Any, elt: ElementTree.Element) -> Any:
        """As NLTK's, which goes through the same few names for each of millions of attributes. Those of an element are put
        into the dictionary itself where it is empty: it was made for them."""
        made = type(d)(d) if d else d
        for name, value in elt.attrib.items():
            if not _left_out[name]:
                made[name] = int(value) if value.isdigit() else value
        return made

    def _strip_tags(self, data: Any) -> Any:
        """As NLTK's: most texts have no tag."""
        if isinstance(data, str) and "<" not in data:
            return data.replace("\n", " ")
        return super()._strip_tags(data)

    def links(self, of: Any, *, with_rejected: bool = False) -> list[Any]:
        """What an LU, an FE or a frame of the reader is linked to in other lexicons; a frame's are those of its LUs together.

        NLTK's reader has no such call. Each link is a dictionary with attributes, as NLTK's objects are: `resource` is the
        name of the other lexicon, `target` a synset's id or the name of a class or roleset, `role` the role of an FE there or
        None. `score` and `source` say what speaks for it, `accepted` what people decided, or None.
        """
        kind, name = (of.get("_type"), of.get("name")) if isinstance(of, dict) else (None, None)
        if kind not in ("lu", "fe", "frame") or name is None:
            what = kind or type(of).__name__
            raise FramenetError(f"links are of an LU, an FE or a frame, as fn.lu(...) or fn.frame(...) gives one; found `{what}`")
        frame = name if kind == "frame" else of.frame.name
        try:
            found = self._database.links(
                frame, by_frame=kind == "frame", with_rejected=with_rejected, release=self._of.name
            )
        except UnknownNameError:  # annotation names it, and no file has it
            return []
        # Two LUs of a frame may have one name. Files may write another number than the store's, or none.
        found = [link for link in found if link.kind == kind and link.name == name and self._is_written(link, of.get("ID"))]
        return [AttrDict({key: getattr(link, key) for key in _OF_LINK}) for link in found]

    def _is_written(self, link: Link, number: Any) -> bool:
        """Whether the files write the number of what is linked so."""
        written = self._root._files.written(link.kind, link.id)
        return bool((int(written) if written.isdigit() else written or None) == number)

    def lu(
        self,
        fn_luid: int,
        ignorekeys: list[str] = [],  # noqa: B006
        luName: str | None = None,  # noqa: N803
        frameID: int | None = None,  # noqa: N803
        frameName: str | None = None,  # noqa: N803
    ) -> Any:
        """As NLTK's. An annotation set may name a frame that no file has, where NLTK fails: its LU is then one of a frame
        with nothing but its name."""
        if not self._lu_idx:
            self._buildluindex()
        if not self._frame_idx:
            self._buildframeindex()
        listed = self._lu_idx.get(fn_luid)
        number = frameID if listed is None else listed.get("frameID")
        if number is None or number in self._frame_idx or frameName is None:
            return super().lu(fn_luid, ignorekeys, luName, frameID, frameName)
        if number not in self._frames_named:
            element = ElementTree.Element("frame", ID=str(number), name=frameName)
            self._frames_named[number] = self._handle_frame_elt(element)
        frame = self._frames_named[number]
        if luName not in frame.lexUnit:
            made = {"_type": "lu", "ID": fn_luid, "name": luName, "frameID": number, "status": "Problem", "frame": frame}
            frame.lexUnit[luName] = AttrDict(made)
        return AttrDict({key: value for key, value in frame.lexUnit[luName].items() if key not in ignorekeys})

    for _name, _function in list(vars(FramenetCorpusReader).items()):
        if isinstance(_function, FunctionType) and "XMLCorpusView" in _function.__code__.co_names:
            vars()[_name] = _over_store(_function)
    del _name, _function


def framenet(store: Database | os.PathLike[str] | str, release: str | None = None, *, generated: bool = False) -> FramenetReader:
    """The reader of a store, or of the store in a directory; a store of several releases needs the name of one."""
    database = store if isinstance(store, Database) else open(os.fspath(store))
    return FramenetReader(database, release, generated)


def install(
    store: Database | os.PathLike[str] | str,
    release: str | None = None,
    *,
    generated: bool = False,
    corpus: Literal["framenet", "framenet15"] = "framenet",
) -> FramenetReader:
    """As ``framenet``; what imports ``nltk.corpus.framenet`` from now on, or ``framenet15``, gets this reader."""
    import nltk.corpus

    if corpus not in ("framenet", "framenet15"):
        raise ValueError(f"NLTK has no FrameNet called {corpus!r}; it has framenet and framenet15")
    reader = framenet(store, release, generated=generated)
    setattr(nltk.corpus, corpus, reader)
    return reader
