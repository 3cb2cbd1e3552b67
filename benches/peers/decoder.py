"""fnstore's decoder beside CTranslate2, and on a GPU beside PyTorch, in one run.

    PYTHON benches/peers/decoder.py --model DIRECTORY [--device gpu] --bench COMMAND...

prints a Markdown table: sentences per second of all, on the same random model (made by `benches/decoder`, in the
directory) and the same work: sources of 25 tokens side by side, 32 on the CPU and 256 on a GPU, beam 20, exactly 25
steps, since the end is masked. On the CPU all take the same number of threads and compute in f32 and in 8 bits; on a GPU
fnstore computes in f32, with weights of 16 bits and on matrix units, through Vulkan, the peers in f16, through CUDA. All
rows take turns, each run in a process of its own; the best of several counts, since other work on the machine only ever
adds time. Loading a model and the first call are not counted. COMMAND runs the bench `decoder`. Needs
training/parity/requirements.txt, and for a GPU a PyTorch with CUDA.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from pathlib import Path

SOURCES = {"cpu": 32, "gpu": 256}
LENGTH = 25
BEAM = 20
STEPS = 25
TOKENS = 16_000
END = "0"
START = "1"
RUNS = 5
# The peer's first call allocates its memory.
CALLS = 2
ROWS = {
    "cpu": [("fnstore", "f32"), ("fnstore", "int8"), ("CTranslate2", "float32"), ("CTranslate2", "int8")],
    "gpu": [
        *(("fnstore", numbers) for numbers in ("f32", "f16", "f16-units")),
        ("CTranslate2", "float16"),
        ("transformers", "float16"),
    ],
}
# What the others are compared with: the first of these that runs.
BASES = {"cpu": [("CTranslate2", "float32")], "gpu": [("CTranslate2", "float16"), ("transformers", "float16")]}


def convert(model_directory, numbers, directory):
    """Writes the model in the format of CTranslate2; its converter wants a tokenizer, which there is none of. In a process of
    its own: what a process has held in memory counts as its children's."""
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


def converted(model, numbers):
    return model / f"ctranslate2-{numbers}"


def timed(call, wait=lambda: None):
    """Seconds of the last of a few calls."""
    for _ in range(CALLS):
        begin = time.perf_counter()
        result = call()
        wait()
        seconds = time.perf_counter() - begin
    return result, seconds


def sources(device):
    chance = random.Random(1)
    return [[chance.randrange(2, TOKENS) for _ in range(LENGTH - 1)] for _ in range(SOURCES[device])]


def ctranslate2_once(directory, numbers, device, threads):
    import ctranslate2

    texts = [[str(token) for token in tokens] + [END] for tokens in sources(device)]
    translator = ctranslate2.Translator(
        directory, device={"gpu": "cuda"}.get(device, device), compute_type=numbers, inter_threads=1, intra_threads=threads
    )
    results, seconds = timed(
        lambda: translator.translate_batch(
            texts, beam_size=BEAM, num_hypotheses=BEAM, max_batch_size=len(texts),
            min_decoding_length=STEPS, max_decoding_length=STEPS,
        )
    )
    assert all(len(tokens) == STEPS for result in results for tokens in result.hypotheses)
    return seconds


def transformers_once(directory, numbers, device, threads):
    import torch
    from transformers import MarianMTModel

    torch.set_num_threads(threads)
    place = {"gpu": "cuda"}.get(device, device)
    model = MarianMTModel.from_pretrained(directory, dtype=getattr(torch, numbers)).to(place).eval()
    ids = torch.tensor([tokens + [int(END)] for tokens in sources(device)], device=place)
    wait = torch.cuda.synchronize if place == "cuda" else lambda: None
    with torch.inference_mode():
        found, seconds = timed(
            lambda: model.generate(
                ids, attention_mask=torch.ones_like(ids), num_beams=BEAM, num_return_sequences=BEAM, do_sample=False,
                min_new_tokens=STEPS, max_new_tokens=STEPS, forced_eos_token_id=None,
            ),
            wait,
        )
    assert found.shape == (BEAM * SOURCES[device], STEPS + 1), found.shape
    return seconds


def measured(command, environment):
    """What a process printed last, as a number, and its peak memory in bytes; None where it failed."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ) as process:
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        print(f"{' '.join(command)} ended with {process.returncode}", file=sys.stderr)
        return None
    return float(printed.split()[-1]), usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--device", choices=list(ROWS), default="cpu")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--bench", nargs=argparse.REMAINDER, default=[])
    parser.add_argument("--peer-once", nargs=2, metavar=("PEER", "NUMBERS"), help=argparse.SUPPRESS)
    parser.add_argument("--convert", metavar="NUMBERS", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.convert:
        convert(args.model, args.convert, converted(args.model, args.convert))
        return
    if args.device == "gpu" and os.environ.get("FNSTORE_DEVICE") == "cpu":
        parser.error("FNSTORE_DEVICE is cpu: unset it, or name an adapter")
    if args.peer_once:
        peer, numbers = args.peer_once
        once = {"CTranslate2": ctranslate2_once, "transformers": transformers_once}[peer]
        print(once(str(args.model), numbers, args.device, args.threads))
        return
    report(args, taken(args))


def taken(args):
    """What each run of each row took, in turns: {row: [(seconds, bytes) or None]}."""

    def run(system, numbers):
        if system == "fnstore":
            # What the command leaves on stdout is the seconds; its memory is that of the bench itself.
            environment = {
                "FNSTORE_BENCH_MODEL": str(args.model), "FNSTORE_BENCH_ROW": "nothing",
                "FNSTORE_BENCH_NUMBERS": numbers, "FNSTORE_BENCH_THREADS": str(args.threads),
                "FNSTORE_BENCH_SOURCES": str(SOURCES[args.device]),
            }
            # Another adapter may be named.
            named = {"FNSTORE_DEVICE": os.environ.get("FNSTORE_DEVICE", "gpu")}
            return measured(args.bench, environment | (named if args.device == "gpu" else {"FNSTORE_DEVICE": "cpu"}))
        own = [sys.executable, __file__, "--model"]
        directory = args.model
        if system == "CTranslate2":
            directory = converted(args.model, numbers)
            if not directory.exists() and subprocess.run([*own, str(args.model), "--convert", numbers]).returncode:
                return None
        own += [str(directory), "--threads", str(args.threads)]
        return measured([*own, "--device", args.device, "--peer-once", system, numbers], {})

    runs = {row: [] for row in ROWS[args.device]}
    for _ in range(args.runs):
        for row in runs:
            # What failed once fails again.
            if None not in runs[row]:
                runs[row].append(run(*row))
    return runs


def report(args, runs):
    best = {row: min(seconds for seconds, _ in of_row) for row, of_row in runs.items() if None not in of_row}
    base = next((row for row in BASES[args.device] if row in best), None)
    beside = f"to {base[0]} in {base[1]}" if base else "to a peer"
    print(f"| system | numbers | sentences/s | {beside} | peak memory of the process |")
    print("| --- | --- | ---: | ---: | ---: |")
    for row, of_row in runs.items():
        system, numbers = row
        if row not in best:
            print(f"| {system} | {numbers} | does not run here | | |")
            continue
        peak = max(peak for _, peak in of_row) / 2**20
        compared = f"{best[base] / best[row]:.2f}" if base else ""
        print(f"| {system} | {numbers} | {SOURCES[args.device] / best[row]:.1f} | {compared} | {peak:,.0f} MiB |")
    print(f"\n{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end, best of {args.runs} runs each.")
    if not best:
        sys.exit("no row ran")


if __name__ == "__main__":
    main()
