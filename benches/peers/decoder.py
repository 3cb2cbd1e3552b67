"""fnstore's decoder beside CTranslate2, in one run.

    PYTHON benches/peers/decoder.py --model DIRECTORY --bench COMMAND...

prints a Markdown table: sentences per second of both, in f32 and in 8 bits, on the same random model (made by
`benches/decoder`, in the directory) and the same work: 32 sources of 25 tokens side by side, beam 20,
exactly 25 steps, since the end is masked, on the same number of threads. All rows take turns, each run in a process of
its own; the best of several counts, since other work on the machine only ever adds time. Loading a model is
not counted. COMMAND runs the bench `decoder`. Needs training/parity/requirements.txt.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from pathlib import Path

SOURCES = 32
LENGTH = 25
BEAM = 20
STEPS = 25
TOKENS = 16_000
END = "0"
START = "1"
RUNS = 5
# The peer's first call allocates its memory.
CALLS = 2
ROWS = [("fnstore", "f32"), ("fnstore", "int8"), ("CTranslate2", "float32"), ("CTranslate2", "int8")]


def convert(model_directory, numbers, directory):
    """Writes the model in the format of CTranslate2; its converter wants a tokenizer, which there is none of."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "training" / "parity"))
    from suppress import Loader
    from transformers import MarianMTModel

    model = MarianMTModel.from_pretrained(model_directory)
    spec = Loader().get_model_spec(model)
    vocabulary = [str(token) for token in range(TOKENS)]
    spec.register_source_vocabulary(vocabulary)
    spec.register_target_vocabulary(vocabulary)
    spec.config.add_source_eos = False
    spec.config.eos_token = END
    spec.config.unk_token = spec.config.bos_token = spec.config.decoder_start_token = START
    spec.validate()
    spec.optimize(quantization=numbers)
    directory.mkdir(parents=True, exist_ok=True)
    spec.save(str(directory))


def peer_once(directory, numbers, threads):
    """Seconds of one pass in CTranslate2, printed."""
    import ctranslate2

    chance = random.Random(1)
    tokens = [str(token) for token in range(2, TOKENS)]
    sources = [chance.choices(tokens, k=LENGTH - 1) + [END] for _ in range(SOURCES)]
    translator = ctranslate2.Translator(
        directory, device="cpu", compute_type=numbers, inter_threads=1, intra_threads=threads
    )
    for _ in range(CALLS):
        begin = time.perf_counter()
        results = translator.translate_batch(
            sources, beam_size=BEAM, num_hypotheses=BEAM, max_batch_size=SOURCES,
            min_decoding_length=STEPS, max_decoding_length=STEPS,
        )
        seconds = time.perf_counter() - begin
    assert all(len(tokens) == STEPS for result in results for tokens in result.hypotheses)
    print(seconds)


def measured(command, environment):
    """What a process printed last, as a number, and its peak memory in bytes."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ) as process:
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return float(printed.split()[-1]), usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--bench", nargs=argparse.REMAINDER, default=[])
    parser.add_argument("--peer-once", metavar="NUMBERS", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer_once:
        peer_once(str(args.model), args.peer_once, args.threads)
        return

    def run(system, numbers):
        if system == "fnstore":
            # What the command leaves on stdout is the seconds; its memory is that of the bench itself.
            return measured(args.bench, {
                "FNSTORE_BENCH_MODEL": str(args.model), "FNSTORE_BENCH_ROW": "nothing",
                "FNSTORE_BENCH_NUMBERS": numbers, "FNSTORE_BENCH_THREADS": str(args.threads),
            })
        directory = args.model / f"ctranslate2-{numbers}"
        if not directory.exists():
            convert(args.model, numbers, directory)
        own = [sys.executable, __file__, "--model", str(directory), "--threads", str(args.threads)]
        return measured([*own, "--peer-once", numbers], {})

    seconds = {row: [] for row in ROWS}
    memory = {row: 0 for row in ROWS}
    for _ in range(RUNS):
        for row in ROWS:
            took, peak = run(*row)
            seconds[row].append(took)
            memory[row] = max(memory[row], peak)
    base = min(seconds[("CTranslate2", "float32")])
    print("| system | numbers | sentences/s | to CTranslate2 in f32 | peak memory |")
    print("| --- | --- | ---: | ---: | ---: |")
    for (system, numbers), taken in seconds.items():
        best = min(taken)
        mebibytes = memory[(system, numbers)] / 2**20
        print(
            f"| {system} | {numbers} | {SOURCES / best:.1f} | {base / best:.2f} | {mebibytes:,.0f} MiB |"
        )
    print(f"\n{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end, best of {RUNS} runs each.")


if __name__ == "__main__":
    main()
