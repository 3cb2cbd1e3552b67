"""fnstore as a process: what is measured is the program, not a copy of what it does."""

import hashlib
import json
import subprocess


def drawn(ids, count, seed):
    """The first ids by a hash of seed and id: the same from a store with more of them, but for those."""
    return sorted(ids, key=lambda name: hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest())[:count]


class Program:
    def __init__(self, binary, store=None, models=None, device="cpu", numbers="int8"):
        self.binary, self.store = binary, store
        self.networks = ["--device", device, "--numbers", numbers] + (["--models", str(models)] if models else [])

    def run(self, *arguments, text=None, store=True, accepted=(0, 1)):
        """The records that a command writes. Exit code 1 means that nothing was found."""
        command = [str(self.binary), *map(str, arguments), "--format", "jsonl"]
        if store:
            command += ["--store", str(self.store)]
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode not in accepted:
            raise RuntimeError(f"`{' '.join(command)[:300]}` ended with {done.returncode}: {done.stderr.strip()}")
        return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]

    def query(self, expression):
        return self.run("query", expression)

    def sets(self, ids):
        """Annotation sets by id."""
        found = []
        for at in range(0, len(ids), 200):
            found += self.query(" or ".join(f"id={name}" for name in ids[at : at + 200]))
        return found

    def expand(self, ids, rounds):
        for at in range(0, len(ids), 200):
            expression = " or ".join(f"id={name}" for name in ids[at : at + 200])
            self.run("expand", expression, "--rounds", rounds, *self.networks)

    def paraphrase(self, requests):
        """The best output of each request (text, avoid); None where there is none."""
        lines = "".join(json.dumps({"id": str(at), **request}) + "\n" for at, request in enumerate(requests))
        records = self.run(
            "paraphrase", "-", "--input", "jsonl", "--n-best", 1, *self.networks,
            text=lines, store=False, accepted=(0, 65),
        )  # fmt: skip
        best = {int(record["id"]): record["paraphrases"] for record in records if record.get("paraphrases")}
        return [best[at][0]["text"] if best.get(at) else None for at in range(len(requests))]
