"""An expansion as Ray tasks, each of which writes its shard; then one merge.

    python expand.py STORE FOLDER SHARDS EXPR [OPTION...]

All machines see STORE and FOLDER. A shard that is there whole is not computed again.
"""

import subprocess
import sys
from pathlib import Path

import ray


@ray.remote(num_cpus=2, max_retries=3)
def shard(store, file, number, of, arguments):
    command = ["fnstore", "--store", store, "expand", *arguments, "--threads", "2"]
    subprocess.run([*command, "--shard", f"{number}/{of}", "--out", file], check=True)
    return file


def main(store, folder, of, *arguments):
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    ray.init()
    numbers = range(1, int(of) + 1)
    files = [str(folder / f"{number}-of-{of}.zst") for number in numbers]
    tasks = [shard.remote(store, file, number, of, arguments) for file, number in zip(files, numbers)]
    subprocess.run(["fnstore", "--store", store, "merge", *ray.get(tasks)], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
