"""Keeps a copy of a fnstore database in a file, and goes on where it was stopped.

    python3 examples/follow.py COPY [FNSTORE]      the store is that of FNSTORE_DIR

`c/examples/follow.c` says what is in the copy: both write the same.
"""

import json, subprocess, sys

COPY, PROGRAM = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "fnstore"
REPLACED = 76  # the exit code when a restore put another store in its place

# What a record of an export is told by, by its kind there: its kind in the feed, and what follows.
KEYS = {
    "sem_type": ("semtype", lambda it: [it["id"]]), "frame": ("frame", lambda it: [it["id"]]),
    "relation": ("relation", lambda it: [it["id"]]), "lexunit": ("lu", lambda it: [it["id"]]),
    "document": ("document", lambda it: [it["corpus"]["id"], it["id"]]),
    "sentence": ("sentence", lambda it: [it["id"]]), "layers": ("layers", lambda it: [it["id"]]),
    "set": ("set", lambda it: [it["id"]]),
    "judgement": ("judgement", lambda it: [it["set"], it["reviewer"], it.get("question")]),
    "verification": ("verification", lambda it: [it["set"]]),
    "decisions": ("decision", lambda it: [it["frame"]["id"], it["lu"]]), "edition": ("edition", lambda it: [it["name"]]),
}


def put(copy, key, record):
    key = "/".join(str(part) for part in key if part is not None and part != "")
    copy.write(f"+\t{key}\t{json.dumps(record)}\n" if record else f"-\t{key}\n")


def put_release(copy, number, name):
    """An import is one change. An edited frame or LU may be called otherwise in many records."""
    copy.write(f"!\t{number}\n")
    if name == str(number):
        return  # It was removed.
    export = [PROGRAM, "export", f"release={json.dumps(name)}", "--to", "jsonl"]
    for line in subprocess.run(export, stdout=subprocess.PIPE, check=True).stdout.splitlines():
        record = json.loads(line)
        if record["kind"] in KEYS:
            kind, key = KEYS[record["kind"]]
            put(copy, [number, kind, *key(record)], record)


def take(copy, change):
    release, kind = change["release_id"], change["kind"]
    if kind == "release" or kind in ("frame", "lu") and change["action"] == "edited":
        return put_release(copy, release, change["release"])
    frame = change["frame"] if kind == "decision" else None
    put(copy, [release, kind, frame, change["id"], change["reviewer"], change["question"]], change["record"])
    if change["sentence_record"]:
        put(copy, [release, "sentence", change["sentence"]], change["sentence_record"])


def follow(copy, since, known):
    asked = [PROGRAM, "changes", "--with-records", "--since", since, *known]
    feed = subprocess.Popen(asked, stdout=subprocess.PIPE, encoding="utf-8")
    for change in map(json.loads, feed.stdout):
        take(copy, change)
        if change["last"]:
            # A store that no writer has opened for long has no generation.
            copy.write(f"=\t{change['revision']}\t{change['generation'] or '-'}\n")
            copy.flush()
    return feed.wait()


with open(COPY, "a+", encoding="utf-8", errors="replace") as copy:
    copy.seek(0)
    since, known, end = "0", [], 0
    for line in iter(copy.readline, ""):
        if line.startswith("=\t") and line.endswith("\n"):
            _, since, generation = line.split()
            known, end = ["--generation", generation] if generation != "-" else [], copy.tell()
    copy.truncate(end)  # What stands behind the last commit's end is cut off.
    code = follow(copy, since, known)
    if code == REPLACED:
        copy.truncate(0)
        code = follow(copy, "0", [])
# 1 says that nothing is new; a feed that was killed has a number below 0.
sys.exit(0 if code in (0, 1) else code if code > 0 else 128 - code)
