"""Every command, and every long option of it, has its counterpart in Python, or stands among the exceptions.

The commands and options are those of `docs/reference/options.md`, which a test of the program makes of what it takes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from fnmatch import fnmatchcase

import fnstore
import pytest
from conftest import ROOT

#: What a command is in Python: functions, methods and properties, `Class.name` or a name of the package.
COUNTERPARTS = {
    "": "Database.expand",
    "query": "Database.query Query.count Query.count_by Query.sample Query.explain Query.to_arrow Database.count",
    "show": "Database.frame Database.lu Database.annotation_set Database.documents",
    "frames": "Database.frames LexicalUnit.frame",
    "lus": "Database.lus Frame.lus",
    "fes": "Database.fes Frame.fes",
    "relations": "Database.relations FrameRelation.kind FrameRelation.fes",
    "semtypes": "Database.sem_types",
    "sentences": "Database.sentences",
    "synsets": "Database.synsets",
    "predicates": "Database.predicates",
    "valence": "LexicalUnit.valence Database.lu",
    "stats": "Database.coverage",
    "stats growth": "Database.growth",
    "stats agreement": "Database.agreement",
    "releases": "Database.releases",
    "releases remove": "Database.remove_release",
    "releases diff": "Database.differences",
    "recipes": "Database.recipes",
    "recipes show": "recipe recipe_names",
    "changes": "Database.changes",
    "history": "Database.history",
    "history keep": "Database.keep_history",
    "export": "Database.export",
    "import": "Database.import_release",
    "edit": "Transaction.edit Database.transaction",
    "undo": "Database.undo",
    "delete": "Database.delete",
    "merge": "Database.merge shard_status",
    "judge": "Transaction.judge Database.transaction",
    "proposals": "Database.proposals",
    "proposals accept": "Proposal.accept",
    "proposals reject": "Proposal.reject",
    "proposals move": "Proposal.move",
    "proposals merge": "Proposal.merge",
    "proposals undo": "Proposal.undo",
    "edition": "Database.editions Database.edition",
    "edition create": "Database.create_edition",
    "edition list": "Database.editions",
    "edition show": "Database.edition",
    "edition verify": "Edition.verify",
    "edition cut": "Edition.cut",
    "edition publish": "Edition.publish",
    "edition delete": "Edition.delete",
    "check": "Database.check Database.leaks",
    "reindex": "Database.reindex",
    "backup": "Database.backup",
    "restore": "restore",
    "foreign": "Database.foreign",
    "stats diversity": "Database.diversity",
    "proposals decisions": "Database.proposal_decisions",
    "proposals eval": "Database.measure_proposals",
    "expand": "Database.expand Database.expansion_status Server",
    "filter": "Database.filter",
    "fit": "Database.fit",
    "verify": "Database.verify",
    "discover": "Database.discover",
    "link": "Database.link",
    "links": "Database.links",
    "links accept": "Link.accept",
    "links reject": "Link.reject",
    "links undo": "Link.undo",
    "attest": "Database.attest",
    "generate": "Database.generate Server",
    "paraphrase": "paraphrase Server",
    "align": "align",
    "align spans": "align",
    "align words": "align_words",
    "align tasks": "Database.align_tasks",
    "align answers": "align_answers",
    "augment nli": "augment_nli",
    "augment qa": "augment_qa",
    "augment mt": "augment_mt",
    "augment aggregate": "augment_aggregate",
    "mine": "mine",
    "mine cluster": "group_articles",
    "mine sample": "sample_pairs",
    "mine tally": "tally_pairs",
    "tag": "tag",
    "annotate": "Database.annotate",
    "score": "score ask",
    "substitutes": "substitutes",
}

#: Options whose argument has another name, or that are a method: pattern of `command --option`, and what it is.
RENAMED = {
    "* --split-list": "Database.with_split_list(path)",
    "* --strict-split-list": "Database.with_split_list(strict)",
    "query --fields": "Query.to_arrow(columns)",
    "query --sample": "Query.sample(size)",
    "query --count": "Query.count",
    "query --count-by": "Query.count_by",
    "query --explain": "Query.explain",
    "--any-language": "Database.expand(any_language)",
    "export --no-tagger": "Database.export(tagger)",
    "edit --dry-run": "Transaction.abort",
    "judge --remove": "Transaction.remove",
    "edition verify --judgements": "Edition.check(judgements)",
    "edition publish --tagged": "Edition.publish(tagger)",
    "check --leaks": "Database.leaks",
    "frames --lu": "LexicalUnit.frame",
    "lus --frame": "Frame.lus",
    "fes --frame": "Frame.fes",
    "relations --fes": "FrameRelation.fes",
    "relations --kind": "FrameRelation.kind",
    "proposals move --to": "Proposal.move(frame)",
    "proposals merge --into": "Proposal.merge(lu)",
    "annotate --as": "Database.annotate(name)",
    "proposals * --release": "Proposal.release",
    "expand --status": "Database.expansion_status",
    "merge --status": "shard_status",
    "align answers --tasks": "align_answers(tasks)",
    "links * --release": "Link.release",
    "links * --resource": "Link.resource",
}

#: What has no counterpart, and why: patterns of `command` or `command --option`, parted by `|`.
EXCEPTIONS = {
    "--store | --format | --errors | --threads": "a handle names its store; objects and exceptions have no format",
    "completions | man | gpu | model | model *": "they set up the program and the machine",
    "* --yes | expand --everything": "nobody is asked before what is written out is done",
    "* --limit | * --include-status | valence --sets": "a list is cut by Python, and holds LUs of every status",
    "*tree | *kinds | *propagate | *svg | stats agreement --question | changes --follow": "how results are shown; a feed is a loop",
    "review | judge --from | judge sample | judge tally": "reviewers work in a browser or on sheets, which are read by Transaction.judge",
    "paraphrase --input | import --report | check --repair": "an item says what it is, a report is an object; a repair is the program's",
    "augment | align tasks --out | align tasks --force | align answers --to | align answers --force": "of files; objects are made",
    "train | train * | eval | eval * | experiment | experiment *": "they stay the program's, 24 commands with 258 options: `python -m fnstore train ...`, with --format json",
}


#: Settings of a recipe, which `Database.expand` takes as further keyword arguments; tests below call it with each.
SETTINGS = ("rounds", "beam", "candidates", "max_pieces", "words", "guide", "choice", "reword", "keep_fe", "carry", "targets", "numbers")


def program() -> dict[str, dict[str, str]]:
    """The commands with their long options, and what is said of each."""
    commands: dict[str, dict[str, str]] = {}
    options = commands.setdefault("", {})
    for line in (ROOT / "docs/reference/options.md").read_text().splitlines():
        if heading := re.fullmatch(r"### `fnstore (.+)`", line):
            options = commands.setdefault(heading[1], {})
        elif option := re.match(r"\| `--([a-z0-9-]+)[^|]*\| (.*) \|", line.replace(r"\|", "/")):
            options[option[1]] = option[2]
    return commands


PROGRAM = program()


def pieces() -> Iterator[str]:
    """Commands, and commands with an option."""
    for command, options in PROGRAM.items():
        if command:
            yield command
        yield from (f"{command} --{option}".lstrip() for option in options)


def found(name: str) -> object:
    """A function, method or property by its name."""
    of: object = fnstore
    for part in name.split("."):
        of = getattr(of, part)
    return of


@cache
def arguments(name: str) -> dict[str, inspect.Parameter]:
    of = found(name)
    return dict(inspect.signature(of).parameters) if callable(of) else {}


def counterpart(piece: str) -> str | None:
    """What stands for a command, or for an option of one: `function(argument)`."""
    command, dashed, option = piece.partition("--")
    command = command.rstrip()
    names = COUNTERPARTS.get(command, "").split()
    if not dashed:
        return names[0] if names else None
    for pattern, renamed in RENAMED.items():
        if names and fnmatchcase(piece, pattern):
            name, _, argument = renamed.rstrip(")").partition("(")
            assert not argument or argument in arguments(name), renamed
            assert found(name) is not None, renamed
            return renamed
    argument = option.replace("-", "_")
    if command == "expand" and argument in SETTINGS:
        return f"Database.expand(**{argument})"
    for name in names:
        if argument in arguments(name):
            return f"{name}({argument})"
    return None


def patterns() -> Iterator[str]:
    for line in EXCEPTIONS:
        yield from (pattern.strip() for pattern in line.split("|"))


def is_of(piece: str, pattern: str) -> bool:
    return fnmatchcase(piece, pattern) or fnmatchcase(piece, f"{pattern} --*")


def test_every_command_and_option_has_a_counterpart_or_stands_among_the_exceptions() -> None:
    lacking = [piece for piece in pieces() if counterpart(piece) is None]
    unexplained = [piece for piece in lacking if not any(is_of(piece, pattern) for pattern in patterns())]
    assert unexplained == [], "give them an argument, or an exception with its reason"
    print(f"{len(lacking)} of {len(list(pieces()))} commands and options have no counterpart")


def test_an_argument_has_the_default_of_its_option() -> None:
    differing = {}
    for command, options in PROGRAM.items():
        for option, about in options.items():
            piece = f"{command} --{option}".lstrip()
            name, _, argument = (counterpart(piece) or "").rstrip(")").partition("(")
            of = arguments(name).get(argument) if argument else None
            if of is None or of.default in (None, inspect.Parameter.empty) or argument == "device":
                continue
            told = re.search(r"\[default: ([^\]]*)\]", about)
            if told is None and not of.default:
                continue
            default = told[1] if told else ""
            if is_number(default) and is_number(str(of.default)):
                default, given = str(float(default)), str(float(of.default))
            else:
                given = ",".join(of.default) if isinstance(of.default, tuple) else str(of.default)
            if default != given and not default.endswith(f", else {given}"):
                differing[piece] = (default, given)
    assert differing == {}


def test_each_counterpart_is_called_by_a_test() -> None:
    texts = [path.read_text() for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__)]
    names = {name for names in COUNTERPARTS.values() for name in names.split()}
    never = {name for name in names if not any(re.search(rf"\b{name.split('.')[-1]}\b", text) for text in texts)}
    assert never == set()


def test_what_stays_the_programs_is_counted() -> None:
    (reason,) = (reason for line, reason in EXCEPTIONS.items() if line.startswith("train"))
    stays = [command for command in PROGRAM if command.split(" ")[0] in ("train", "eval", "experiment")]
    options = sum(len(PROGRAM[command]) for command in stays)
    assert f"{len(stays)} commands with {options} options" in reason


def is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9.]+", text) is not None


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_of_a_recipe_is_known(db: fnstore.Database, setting: str) -> None:
    with pytest.raises(fnstore.ExpandError) as raised:
        db.expand("frame=Checking", **{setting: {}})
    assert "unknown field" not in str(raised.value) and "invalid type" in str(raised.value)
    with pytest.raises(fnstore.ExpandError, match="unknown field `roundz`"):
        db.expand("frame=Checking", roundz=3)


def test_the_tables_hold_what_there_is_and_no_more() -> None:
    assert len(PROGRAM) > 90 and {"seed", "idf"} <= PROGRAM["paraphrase"].keys()
    assert len(EXCEPTIONS) <= 15 and all(EXCEPTIONS.values())
    assert COUNTERPARTS.keys() <= PROGRAM.keys()
    all_pieces = list(pieces())
    for pattern in RENAMED:
        assert any(fnmatchcase(piece, pattern) for piece in all_pieces), f"{pattern} is for nothing"
    for pattern in patterns():
        lacking = [piece for piece in all_pieces if is_of(piece, pattern) and counterpart(piece) is None]
        assert lacking, f"{pattern} is for nothing"
    for names in COUNTERPARTS.values():
        assert all(found(name) is not None for name in names.split()), names
