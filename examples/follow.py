"""Keeps a copy of a fnstore database in a directory, and goes on where it was stopped.

    python3 examples/follow.py COPY [FNSTORE]      the store is that of FNSTORE_DIR
"""

import json, os, subprocess, sys

COPY, PROGRAM = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "fnstore"
REPLACED = 76  # the exit code when a restore put another store in its place

# What a record is told by, by its kind in the feed and in JSON lines.
KEYS = {
    "semtype": ("sem_type", lambda it: it["id"]), "frame": ("frame", lambda it: it["id"]),
    "relation": ("relation", lambda it: it["id"]), "lu": ("lexunit", lambda it: it["id"]),
    "document": ("document", lambda it: f"{it['corpus']['id']}/{it['id']}"),
    "sentence": ("sentence", lambda it: it["id"]), "layers": ("layers", lambda it: it["id"]),
    "set": ("set", lambda it: it["id"]),
    "judgement": ("judgement", lambda it: (it["set"], it["reviewer"], it.get("question"))),
    "verification": ("verification", lambda it: it["set"]),
    "decision": ("decisions", lambda it: (it["frame"]["id"], it["lu"])), "edition": ("edition", lambda it: it["name"]),
}
OF_LINES = {line: (kind, key) for kind, (line, key) in KEYS.items()}


def put(copy, release, record):
    if record and record["kind"] in OF_LINES:
        kind, key = OF_LINES[record["kind"]]
        copy[json.dumps([release, kind, str(key(record))])] = record


def rename(copy, release, kind, changed):
    """Lines of JSON call frames and LUs by name beside their numbers."""
    for key, record in copy.items():
        named = record.get(kind)
        if json.loads(key)[0] == release and isinstance(named, dict) and named["id"] == changed["id"]:
            named["name"] = changed["name"]


def take(copy, change):
    release, kind, record, told = change["release_id"], change["kind"], change["record"], str(change["id"])
    if kind == "judgement":
        told = str((change["id"], change["reviewer"], change["question"]))
    elif kind == "decision":
        told = str((change["frame"], change["id"]))
    if kind == "release":
        for key in [key for key in copy if json.loads(key)[0] == release]:
            del copy[key]
        if change["action"] == "added" and change["release"] != str(release):
            export = [PROGRAM, "export", f"release={json.dumps(change['release'])}", "--to", "jsonl"]
            for line in subprocess.run(export, stdout=subprocess.PIPE, check=True).stdout.splitlines():
                put(copy, release, json.loads(line))
    elif record is None:
        copy.pop(json.dumps([release, kind, told]), None)
    elif kind in ("frame", "lu") and change["action"] == "edited":
        rename(copy, release, kind, record)
    put(copy, release, record)
    put(copy, release, change["sentence_record"])


def main():
    path = os.path.join(COPY, "copy.json")
    state = {"revision": 0, "generation": None, "records": {}}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            state = json.load(file)
    asked = [PROGRAM, "changes", "--with-records", "--since", str(state["revision"])]
    if state["generation"]:
        asked += ["--generation", state["generation"]]
    feed = subprocess.Popen(asked, stdout=subprocess.PIPE, text=True)
    for line in feed.stdout:
        change = json.loads(line)
        take(state["records"], change)
        if change["last"]:
            state["revision"], state["generation"] = change["revision"], change["generation"]
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(state, file)
            os.replace(path + ".new", path)
    code = feed.wait()
    if code == REPLACED and os.path.exists(path):
        os.remove(path)
        main()
    elif code > 1:  # 1 says that nothing is new
        sys.exit(code)


main()
