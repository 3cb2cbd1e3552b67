"""An expansion as Ray tasks, each of which writes its shard; then one merge.

    python expand.py STORE FOLDER SHARDS EXPR [OPTION...]

All machines see STORE and FOLDER under the same paths, and have `fnstore` in the PATH of their Ray process. A shard that
is there whole is not computed again; one that was cut resumes.
"""

import subprocess
import sys
from pathlib import Path

import ray


@ray.remote(num_cpus=1, max_retries=3, retry_exceptions=True)
def shard(store, file, number, of, arguments):
    command = ["fnstore", "--store", store, "expand", *arguments, "--threads", "1"]
    if "--device" not in arguments:
        # Digits differ between processors and GPUs: all tasks take the same.
        command += ["--device", "cpu"]
    command += ["--shard", f"{number}/{of}", "--out", file]
    # An error of the program, or its death for want of memory, is an exception, and the task is tried again.
    subprocess.run(command, check=True)
    return file


def main(store, folder, of, *arguments):
    store, folder = str(Path(store).resolve()), Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    ray.init()
    waiting = [
        shard.remote(store, str(folder / f"{number}-of-{of}.zst"), number, of, arguments)
        for number in range(1, int(of) + 1)
    ]
    files, failed = [], 0
    while waiting:
        (done,), waiting = ray.wait(waiting)
        try:
            files.append(ray.get(done))
        except Exception as error:
            failed += 1
            print(error, file=sys.stderr)
    if failed:
        sys.exit(f"{failed} of {of} shards failed; the same command computes those alone")
    subprocess.run(["fnstore", "--store", store, "merge", *sorted(files)], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
