"""Laws of the language model's recipe. `python -m unittest discover training` (needs training/requirements.txt)."""

import contextlib
import io
import json
import lzma
import random
import sys
import tempfile
import types
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from language_model import adapter, blocks, export, infill, shards
from language_model.counterparts import coverage, cuts, replaced
from language_model.examples import Drawer, in_framenets_spacing, truncated
from language_model.lexicon import Lexicon
from language_model.lora import put, tensors_of
from language_model.pairs import mined, of_set, refusal
from language_model.prompt import Request, Template
from language_model.returned import Returned
from language_model.train import RATE, Run, compile_layers, loss_of, opened, rate_at, reason, train
from language_model.unpack import halves, name_of
from paraphrase.prepare import Repeats
from paraphrase.text import words

VERBS = {
    "check": ["check", "checks", "checking", "checked"],
    "verify": ["verify", "verifies", "verifying", "verified"],
    "find": ["find", "finds", "finding", "found"],
    "walk": ["walk", "walks", "walking", "walked"],
}
STOCK = [f"filler{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(400)]
SOURCE, TARGET = "Then they checked the old bill at noon .", "At noon they verified the ancient bill ."
LINKS = [(0, 0), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 0), (7, 1), (8, 7)]


def lexicon(directory):
    path = directory / "verbs.tsv.xz"
    with lzma.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{lemma}\t{form}\tV\n" for lemma, forms in VERBS.items() for form in forms)
    known = [form for forms in VERBS.values() for form in forms] + ["old", "ancient", "bill", "bills", "men", "man"] + STOCK
    table = numpy.random.default_rng(1).normal(size=(len(known), 8))
    return Lexicon(path, known, table / numpy.linalg.norm(table, axis=1, keepdims=True))


def base(directory, layers=2):
    """A tiny model with random weights, as `unpack` leaves one."""
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=120, hidden_size=32, intermediate_size=48, num_hidden_layers=layers, num_attention_heads=4, num_key_value_heads=2,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, tie_word_embeddings=True,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(directory)
    (directory / "base.json").write_text(json.dumps({"file": "tiny.gguf", "fingerprint": "ab" * 32}))
    return directory


def examples(count, rng):
    ids = lambda: [rng.randrange(3, 120) for _ in range(rng.randrange(4, 20))]
    return [(ids(), ids()) for _ in range(count)]


class InDirectory(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.directory = Path(kept.name)


class Prompts(unittest.TestCase):
    def test_every_prompt_is_read_back(self):
        template = Template()
        for kept in range(8):
            lists = {name: ["a", "b c"] for place, name in enumerate(("avoid", "use", "hint")) if kept >> place & 1}
            request = Request("They checked: Avoid it, he said.", **lists)
            self.assertEqual(template.read(template.write(request)), request)

    def test_lines_without_words_are_left_out(self):
        prompt = Template().write(Request("A b.", use=["c"]))
        self.assertEqual(prompt, "Sentence: A b.\nUse: c\nParaphrase:")

    def test_another_text_is_no_prompt(self):
        with self.assertRaisesRegex(ValueError, "does not end with"):
            Template().read("Sentence: A b.\n")
        with self.assertRaisesRegex(ValueError, "left"):
            Template().read("Sentence: A b.\nPlease: c\nParaphrase:")


class MinedPairs(InDirectory):
    def test_pairs_of_news_are_learned_from_in_both_directions(self):
        path = self.directory / "pairs.jsonl"
        names = ["Ann", "Ben", "Cleo", "Dora", "Emil", "Fay", "Gus", "Hal"]
        pairs = [
            {"source": f"{name} found the old mill in ruins.", "target": f"The ancient mill was discovered by {name} in ruins."}
            for name in names
        ]
        path.write_text("".join(json.dumps({"id": "m1", **pair}) + "\n" for pair in pairs))
        read = list(mined(path))
        self.assertEqual(read[0], (pairs[0]["source"], pairs[0]["target"]))
        use = {"both": True, "most": None}
        kept, report = of_set([("Nobody was hurt.", "nobody was hurt"), *read], use, {pairs[7]["source"]}, Repeats(), random.Random(3))
        self.assertEqual(report.pop("in dev or test"), 1)
        self.assertEqual({frozenset(pair) for pair in kept} - {frozenset(pair) for pair in read}, set())
        self.assertTrue(any(pair in read for pair in kept) and any(pair[::-1] in read for pair in kept), (kept, report))


class Examples(InDirectory):
    def setUp(self):
        super().setUp()
        self.lexicon = lexicon(self.directory)

    def test_words_are_replaced_that_another_lemma_stands_for(self):
        source, target = SOURCE.split(), TARGET.split()
        found = {" ".join(source[span.start : span.end]) for span in replaced(source, target, LINKS, self.lexicon)}
        self.assertEqual(found, {"checked", "old"})

    def test_a_word_without_a_counterpart_is_never_avoided(self):
        found = replaced("They checked the bill".split(), "They saw the bill".split(), [(0, 0), (2, 2), (3, 3)], self.lexicon)
        self.assertEqual(found, [])

    def test_no_avoided_word_stands_in_the_target_in_any_form(self):
        rng, drawer, marked = random.Random(1), Drawer(self.lexicon), 0
        pool = [form for forms in VERBS.values() for form in forms] + ["old", "ancient", "bill", "bills", "men", "man", "of", "the"]
        for _ in range(1500):
            source, target = ([rng.choice(pool) for _ in range(9)] for _ in range(2))
            links = [(i, i) for i in range(9) if rng.random() < 0.9]
            drawn = drawer.draw(source, target, links, rng)
            if drawn is None:
                continue
            request, answer = drawn
            theirs = frozenset().union(*map(self.lexicon.family, words(answer)))
            for phrase in request.avoid:
                marked += 1
                self.assertFalse(any(self.lexicon.family(word) <= theirs for word in phrase.split() if word not in ("of", "the")))
            self.assertTrue(all(f" {phrase} " in f" {answer} " for phrase in request.use))
            self.assertFalse(set(request.hint) & set(request.avoid))
        self.assertGreater(marked, 300)

    def test_a_phrase_is_avoided_as_one(self):
        source, target = "They walked out early".split(), "They verified early".split()
        found = replaced(source, target, [(0, 0), (1, 1), (2, 1), (3, 2)], self.lexicon)
        self.assertEqual([(span.start, span.end) for span in found], [(1, 3)])

    def test_close_pairs_are_only_learned_from_with_an_avoided_word(self):
        drawer = Drawer(self.lexicon)
        for seed in range(60):
            drawn = drawer.draw(SOURCE.split(), TARGET.split(), LINKS, random.Random(seed), close=True)
            self.assertTrue(drawn is None or drawn[0].avoid)

    def test_a_cut_pair_is_cut_at_words_that_answer_to_each_other(self):
        source, target = list("abcdef"), list("ABCDEF")
        self.assertEqual(cuts(source, target, [(0, 1), (1, 0), (2, 2), (4, 4)]), [(2, 2), (4, 4)])
        source, target = [f"a{n}" for n in range(14)], [f"b{n}" for n in range(14)]
        for seed in range(20):
            a, b, links = truncated(source, target, [(n, n) for n in range(14)], random.Random(seed))
            self.assertEqual([word[1:] for word in a], [word[1:] for word in b])
            self.assertEqual(links, [(n, n) for n in range(len(a))])

    def test_what_is_left_out_or_made_up_is_seen(self):
        self.assertEqual(coverage(["checked", "bills", "the"], ["verified"], [(0, 0)]), 0.5)

    def test_framenets_spacing(self):
        self.assertEqual(in_framenets_spacing("He cannot, he said.", random.Random(1)), "He can not , he said .")

    def test_pairs_are_refused_for_a_reason(self):
        good = ("The old man walked slowly to the market.", "Slowly, the elderly man went to the market.")
        self.assertIsNone(refusal(*good))
        self.assertIsNone(refusal("Sebasti\u00e1n saw the old man today", "Sebasti\u00e1n noticed the elderly man today"))
        self.assertEqual(refusal(good[0], "Slowly , the elderly man went to the market ."), "loose marks")
        self.assertEqual(refusal(good[0], "Slowly, the elderly man went to the caf\u00e9."), "letters that the source does not have")
        self.assertEqual(refusal(good[0], "The old man walked."), "length")


class ReturnedOutputs(InDirectory):
    def setUp(self):
        super().setUp()
        lus = [{"frame": "Checking", "name": name} for name in ("check.v", "verify.v", "walk.v", "go over.v", "get a(n) eye.v")]
        self.returned = Returned(lexicon(self.directory), lus)

    def drawn(self, output, seed):
        output, seed = {"frame": "Checking", **output}, {"lu": "check.v", **seed}
        return [self.returned.draw(output, seed, random.Random(number)) for number in range(60)]

    def test_the_answer_is_a_persons_and_the_trigger_is_avoided_beside_units_that_the_answer_lacks(self):
        output = {"text": "Then they verified the old bill.", "trigger": "verified"}
        drawn = self.drawn(output, {"text": "Then they checked the old bill ."})
        avoided, hinted = set(), set()
        for request, answer in drawn:
            self.assertEqual(answer, "Then they checked the old bill.")
            self.assertIn("verified", request.avoid)
            avoided |= set(request.avoid)
            hinted |= set(request.hint)
        self.assertTrue({"verify", "walking", "go over"} <= avoided)
        self.assertFalse(avoided & {"check", "checks", "checked", "checking", "get a(n) eye"})
        self.assertIn("check", hinted)

    def test_an_output_whose_trigger_the_person_uses_or_that_says_something_else_teaches_nothing(self):
        same = self.drawn({"text": "Then they checked it.", "trigger": "checked"}, {"text": "Then they checked it ."})
        other = self.drawn({"text": "A man verified bills", "trigger": "verified"}, {"text": "Then they checked it ."})
        self.assertEqual(set(same) | set(other), {None})


class Shards(InDirectory):
    def test_examples_come_back_and_only_answers_are_learned(self):
        written = [([3, 4, 5], [6, 7]), ([8], [9, 10, 11])]
        self.assertEqual(shards.write(self.directory / "x.safetensors", written), 2)
        tokens, labels = shards.Shard(self.directory / "x.safetensors").batch([1, 0])
        self.assertEqual(tokens.shape, (2, shards.STEP))
        self.assertEqual(tokens[1].tolist()[:6], [3, 4, 5, 6, 7, 0])
        self.assertEqual(labels[1].tolist()[:6], [-100, -100, -100, 6, 7, -100])

    def test_every_example_is_read_once_a_pass_and_new_shards_are_found(self):
        rng = random.Random(1)
        for number in range(2):
            shards.write(self.directory / f"draw-0.block-{number:03}.safetensors", examples(40, rng))
        order = shards.Order(self.directory, 1, 256)
        batches, rows = order.batches(), 0
        while rows < 80:
            rows += len(next(batches)[0])
        self.assertEqual((rows, order.state["shard"]), (80, "draw-0.block-001.safetensors"))
        shards.write(self.directory / "draw-1.block-000.safetensors", examples(4, rng))
        next(batches)
        self.assertEqual((order.state["passes"], order.state["shard"]), (0, "draw-1.block-000.safetensors"))
        next(batches)
        self.assertEqual((order.state["passes"], order.state["shard"]), (1, "draw-0.block-000.safetensors"))

    def test_parts_of_a_block_are_read_as_one(self):
        rng = random.Random(5)
        (self.directory / "shards").mkdir()
        self.assertEqual(shards.deal(self.directory, "one", examples(7, rng), 2), 7)
        shards.deal(self.directory, "other", examples(3, rng), 2)
        order = shards.Order(self.directory / "shards", 1, 10**6)
        batches = order.batches()
        self.assertEqual([len(next(batches)[0]) for _ in range(2)], [6, 4])
        self.assertEqual(order.state["shard"], "draw-0.block-001.safetensors")
        # Fewer blocks: those of before are gone.
        shards.deal(self.directory, "one", examples(2, rng), 1)
        self.assertEqual(len(list((self.directory / "shards").glob("*.one.*"))), 1)

    def test_batches_of_another_size_begin_their_shard_anew(self):
        shards.write(self.directory / "draw-0.block-000.safetensors", examples(60, random.Random(2)))
        order = shards.Order(self.directory, 1, 128)
        batches = order.batches()
        for _ in range(5):
            next(batches)
        self.assertEqual(shards.Order(self.directory, 1, 128, dict(order.state)).state["batch"], 5)
        self.assertEqual(shards.Order(self.directory, 1, 4096, dict(order.state)).state["batch"], 0)

    def test_reading_goes_on_where_it_stopped(self):
        shards.write(self.directory / "draw-0.block-000.safetensors", examples(60, random.Random(2)))
        whole, first = shards.Order(self.directory, 1, 128).batches(), shards.Order(self.directory, 1, 128)
        batches = first.batches()
        for _ in range(5):
            self.assertTrue(torch.equal(next(whole)[0], next(batches)[0]))
        rest = shards.Order(self.directory, 1, 128, json.loads(json.dumps(first.state))).batches()
        for _ in range(40):
            self.assertTrue(torch.equal(next(whole)[0], next(rest)[0]))


class Adapters(InDirectory):
    def setUp(self):
        super().setUp()
        self.base = base(self.directory / "base")

    def filled(self):
        model, adapted = opened(self.base, torch.device("cpu"), torch.float32)
        for module in adapted.values():
            module.B.data = torch.randn_like(module.B) * 0.05
        return model.eval(), adapted

    def test_what_is_exported_is_the_adapted_model(self):
        model, adapted = self.filled()
        adapter.write(self.directory / "export", self.base, tensors_of(adapted), {"tokens": 5})
        tokens = torch.randint(3, 120, (2, 9))
        plain = LlamaForCausalLM.from_pretrained(self.base)(tokens).logits
        ours = model(tokens).logits
        self.assertGreater((ours - plain).abs().max().item(), 0.01)
        # As a reader does it: rows of 8 bits times their scales, alpha / r times B A added to the matrix.
        from safetensors.torch import load_file

        config = json.loads((self.directory / "export" / adapter.CONFIG).read_text())
        read = load_file(self.directory / "export" / adapter.WEIGHTS)
        merged = LlamaForCausalLM.from_pretrained(self.base)
        for name in adapted:
            a, b = (read[f"{name}.lora_{p}.weight"] * read[f"{name}.lora_{p}.weight.scale"][:, None] for p in "AB")
            merged.get_submodule(name).weight.data += config["lora_alpha"] / config["r"] * b @ a
        theirs = merged(tokens).logits
        self.assertLess((ours - theirs).abs().max().item(), 0.03 * (ours - plain).abs().max().item())
        again, other = opened(self.base, torch.device("cpu"), torch.float32)
        adapter.read(self.directory / "export", self.base, other)
        self.assertLess((again.eval()(tokens).logits - theirs).abs().max().item(), 1e-4)

    def test_an_adapter_carries_the_prompt_of_its_examples(self):
        _, adapted = self.filled()
        work = self.directory / "work"
        work.mkdir()
        for text in (None, "format = 1\n"):
            if text:
                (work / "prompt.toml").write_text(text)
            adapter.write(self.directory / "export", self.base, tensors_of(adapted), {}, adapter.prompt_of(work))
            written = (self.directory / "export" / "prompt.toml").read_text()
            self.assertEqual(written, text or adapter.PROMPT.read_text())

    def test_an_adapter_for_another_base_is_refused(self):
        _, adapted = self.filled()
        adapter.write(self.directory / "export", self.base, tensors_of(adapted), {})
        (self.base / "base.json").write_text(json.dumps({"file": "x", "fingerprint": "cd" * 32}))
        with self.assertRaisesRegex(ValueError, "base_fingerprint"):
            adapter.read(self.directory / "export", self.base, adapted)

    def test_matrices_of_another_adapter_are_refused(self):
        _, adapted = self.filled()
        with self.assertRaisesRegex(ValueError, "another adapter"):
            put(adapted, {"model.layers.0.self_attn.q_proj.lora_A.weight": torch.zeros(32, 32)})

    def given(self, name, budget, origin=None):
        return types.SimpleNamespace(
            base=self.base, work=self.directory / "work", run=self.directory / name, origin=origin, budget=budget, batch=128,
            device="cpu", seed=1, dev_every=200, save_every=1e9, minutes=1e9, rate=RATE, rank=32, compiled=False, patience=0,
        )  # fmt: skip

    def trained(self, given, steps):
        session = Steps(given.run, steps)
        run = Run(given, session)
        train(run, given)
        return run

    def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(self):
        (self.directory / "work" / "shards").mkdir(parents=True)
        rng = random.Random(3)
        shards.write(self.directory / "work" / "shards" / "draw-0.block-000.safetensors", examples(30, rng))
        shards.write(self.directory / "work" / "dev.safetensors", examples(5, rng))
        whole = self.trained(self.given("whole", 10**6), 9)
        self.trained(self.given("parts", 10**6), 4)
        parts = self.trained(self.given("parts", 10**6), 5)
        self.assertEqual((whole.step, whole.tokens, whole.dev), (parts.step, parts.tokens, parts.dev))
        for name, tensor in tensors_of(whole.adapted).items():
            self.assertTrue(torch.equal(tensor, tensors_of(parts.adapted)[name]), name)
        # An exported adapter goes on along the schedule, in the files that it has not read.
        origin = self.directory / "whole" / "best"
        facts = json.loads((origin / adapter.CONFIG).read_text())["training"]
        again = Run(self.given("again", 10**6, origin), Steps(self.directory / "again", 1))
        self.assertEqual(again.tokens, facts["tokens"])
        self.assertEqual(again.order.state, {name: facts[name] for name in again.order.state})
        self.assertIsNotNone(facts["shard"], "it stopped in the middle of a shard")

    def learning_by_heart(self, name, **more):
        """A run on four examples whose development examples are others: their loss rises in the end."""
        (self.directory / "work" / "shards").mkdir(parents=True, exist_ok=True)
        rng = random.Random(3)
        shards.write(self.directory / "work" / "shards" / "draw-0.block-000.safetensors", examples(4, rng))
        shards.write(self.directory / "work" / "dev.safetensors", examples(5, rng))
        given = self.given(name, 30_000)
        vars(given).update({"rate": 0.02, **more})
        return self.trained(given, 10**6)

    def test_the_best_adapter_is_kept_and_exported_not_the_last(self):
        run = self.learning_by_heart("heart", budget=6_000)
        losses = dict(run.dev)
        tokens, least = min(run.dev, key=lambda one: one[1])
        self.assertLess(least, losses[run.tokens])
        self.assertEqual((run.best["training"]["tokens"], run.best["training"]["dev_loss"]), (tokens, least))
        arguments = ["--base", self.base, "--work", self.directory / "work", "--run", self.directory / "heart"]
        with contextlib.redirect_stdout(io.StringIO()) as said:
            export.main([*map(str, [*arguments, "--to", self.directory / "export"])])
        self.assertIn(f"after {tokens} tokens", said.getvalue())
        written, best = (
            (self.directory / place / adapter.WEIGHTS).read_bytes() for place in ("export", "heart/best")
        )
        self.assertEqual(written, best)
        config = json.loads((self.directory / "export" / adapter.CONFIG).read_text())
        self.assertEqual(config["training"]["dev_loss"], least)

    def test_a_run_ends_when_its_loss_no_longer_falls(self):
        run = self.learning_by_heart("patient", patience=3)
        self.assertEqual(run.idle(), 3)
        self.assertLess(run.tokens, 30_000)
        self.assertEqual(reason(run, self.given("patient", 30_000)), "told" if run.session.over() else None)

    def test_answers_are_measured_on_each_file_of_held_out_examples(self):
        work = self.directory / "work"
        (work / "shards").mkdir(parents=True)
        (work / "answers.json").write_text('{"yes": 5, "no": 6}')
        rng = random.Random(4)
        # What is asked about decides: of a yes the prompt ends in 7, of a no in 8.
        asked = lambda count: [([*(rng.randrange(20, 90) for _ in range(6)), 7 + n % 2], [5 + n % 2]) for n in range(count)]
        shards.deal(work, "evokes", asked(60), 2)
        shards.deal(work, "meaning", asked(20), 2)
        shards.write(work / "dev.evokes.safetensors", asked(20))
        shards.write(work / "held.hidden.safetensors", asked(20))
        given = self.given("answers", 8_000)
        vars(given).update(rate=0.01, dev_every=4_000)
        rows = []
        session = Steps(given.run, 10**6)
        session.log = rows.append
        train(Run(given, session), given)
        first, last = ([row for row in rows if "dev" in row][place] for place in (0, -1))
        self.assertEqual(set(first) - {"step", "tokens", "loss", "tokens/s"}, {"dev", "dev.evokes", "held.hidden"})
        self.assertEqual(last["held.hidden"], {"auc": 1.0, "right": 1.0}, rows)
        self.assertEqual(rows[-1]["stopped"], "budget")

    def test_compiled_layers_compute_what_plain_ones_do(self):
        model, adapted = opened(base(self.directory / "deep", 5), torch.device("cpu"), torch.bfloat16)
        model.eval()
        tokens = torch.randint(3, 120, (2, 16))
        plain = loss_of(model, tokens, tokens, torch.device("cpu"))[0]
        before = torch._dynamo.utils.counters["stats"]["unique_graphs"]
        compile_layers(model, "aot_eager")
        compiled = loss_of(model, tokens, tokens, torch.device("cpu"))[0]
        compiled.backward()
        self.assertAlmostEqual(plain.item(), compiled.item(), 2)
        self.assertTrue(all(module.A.grad is not None for module in adapted.values()))
        # What the first layer reads has no gradient; the others share one code.
        self.assertEqual(torch._dynamo.utils.counters["stats"]["unique_graphs"] - before, 2)

    def test_the_rate_rises_and_falls_over_the_budget(self):
        rates = [rate_at(tokens, 10**6, 60_000, 7e-4) for tokens in range(0, 10**6, 10**4)]
        self.assertAlmostEqual(max(rates), 7e-4)
        self.assertEqual(rates.index(max(rates)) * 10**4, 60_000)
        self.assertLess(rates[-1], 0.06 * 7e-4)


RECORD = {
    "id": "s1",
    "frame": "Telling",
    "lu": "tell.v",
    "text": "` Yes , he told his old aunt the story , \" she said .",
    "targets": [[11, 15]],
    "elements": [
        {"name": "Speaker", "rank": 1, "span": [8, 10]},
        {"name": "Addressee", "rank": 1, "span": [16, 28]},
        {"name": "Message", "rank": 1, "span": [29, 38]},
        {"name": "Message", "rank": 2, "span": [0, 5]},
        {"name": "Means", "rank": 1, "span": None},
        {"name": "Manner", "rank": 1, "span": [11, 15]},
    ],
}


class Infilling(InDirectory):
    def test_spans_beside_the_target_may_be_blanks(self):
        spans = infill.spans_of(RECORD)
        self.assertEqual([name for _, _, name in spans], ["Speaker", "Addressee", "Message"])
        long = RECORD | {"elements": [{"name": "Message", "rank": 1, "span": [16, 52]}], "text": RECORD["text"].replace(" ", " a ")}
        self.assertEqual(infill.spans_of(long), [(16, 52, "Message")])
        self.assertEqual(infill.spans_of(RECORD | {"text": RECORD["text"].replace("aunt", "a|nt")})[1][2], "Message")

    def test_blanks_never_overlap_and_stand_in_order(self):
        overlapping = RECORD | {"elements": [*RECORD["elements"], {"name": "Topic", "rank": 1, "span": [20, 34]}]}
        for seed in range(50):
            blanks = infill.blanks_of(overlapping, random.Random(seed))
            self.assertTrue(1 <= len(blanks) <= 3)
            self.assertTrue(all(one[1] <= other[0] for one, other in zip(blanks, blanks[1:])))

    def test_a_prompt_tells_what_its_mode_says(self):
        prompt, blanks = infill.Prompt(), [(8, 10, "Speaker"), (16, 28, "Addressee")]
        sentence = "Sentence with gaps: ` Yes, ____ told ____ the story, \"she said.\n"
        told = "Word: tell.v\n" + sentence + "In the gaps: Speaker, Addressee\nWords:"
        self.assertEqual(prompt.write(RECORD, blanks, "none"), sentence + "Words:")
        self.assertEqual(prompt.write(RECORD, blanks, "fe"), told)
        self.assertEqual(prompt.write(RECORD, blanks, "frame-fe"), "Frame: Telling\n" + told)
        self.assertEqual(infill.answer(RECORD, blanks), "he | his old aunt")

    def test_spacing_is_that_of_the_program(self):
        # The examples of `fnstore::text::natural_spacing`.
        for text, spaced in [
            ('" They could n\'t , " he said ( twice ) .', '"They couldn\'t," he said (twice).'),
            ("They 'd say I 'm not , wo n't", "They'd say I'm not, won't"),
            ("the readers ' view", "the readers' view"),
            ('he said " yes " and " no " .', 'he said "yes" and "no".'),
            ("' Yes , ' he said", "' Yes, ' he said"),
            (", 's", ", 's"),
        ]:
            self.assertEqual(infill.natural(text), spaced)

    def test_sentences_of_the_other_parts_are_left_out(self):
        self.assertEqual(infill.key("He  could n't , \"go\" ."), infill.key("he couldn't, go"))


class Steps:
    """A session that ends after so many steps, in place of minutes."""

    def __init__(self, directory, steps):
        from encoder.session import Session

        directory.mkdir(parents=True, exist_ok=True)
        self.inner, self.left = types.SimpleNamespace(directory=directory, saved=0), steps
        self.save = types.MethodType(Session.save, self.inner)
        self.restore = types.MethodType(Session.restore, self.inner)
        self.log = lambda row: None

    def over(self):
        self.left -= 1
        return self.left < 0

    def save_due(self):
        return False


class Unpacking(unittest.TestCase):
    def test_rotated_dimensions_are_put_in_halves(self):
        rows = torch.arange(8.0)[:, None]
        self.assertEqual(halves(rows, 2).flatten().tolist(), [0, 2, 1, 3, 4, 6, 5, 7])

    def test_names_are_those_of_transformers(self):
        self.assertEqual(name_of("blk.3.attn_q.weight"), "model.layers.3.self_attn.q_proj.weight")
        self.assertEqual(name_of("token_embd.weight"), "model.embed_tokens.weight")


class FourBits(InDirectory):
    def test_blocks_are_those_of_gguf_and_lose_less_than_its_own(self):
        from gguf import GGMLQuantizationType, quants

        matrix = numpy.random.default_rng(5).normal(0, 0.02, (24, 96)).astype(numpy.float32)
        matrix[3] = 0
        found = blocks.packed(matrix)
        self.assertEqual((found.dtype, found.shape), (numpy.uint8, (24, 3 * 18)))
        read = blocks.unpacked(found)
        theirs = quants.dequantize(found, GGMLQuantizationType.Q4_0)
        self.assertTrue(numpy.array_equal(read, theirs))
        self.assertTrue(numpy.array_equal(read[3], matrix[3]))
        plain = quants.dequantize(quants.quantize(matrix, GGMLQuantizationType.Q4_0), GGMLQuantizationType.Q4_0)
        self.assertLess(((read - matrix) ** 2).sum(), 0.9 * ((plain - matrix) ** 2).sum())

    def test_numbers_that_blocks_hold_come_back(self):
        integers = numpy.arange(64).reshape(2, 32) % 16 - 8
        matrix = (integers * numpy.array([[0.25], [-0.125]])).astype(numpy.float32)
        self.assertTrue(numpy.array_equal(blocks.unpacked(blocks.packed(matrix)), matrix))

    def test_an_adapter_of_8_bits_is_written_in_4(self):
        made = base(self.directory / "base")
        model, adapted = opened(made, torch.device("cpu"), torch.float32)
        for module in adapted.values():
            module.B.data = torch.randn_like(module.B) * 0.05
        eight, four, exported = (self.directory / name for name in ("eight", "four", "exported"))
        adapter.write(eight, made, tensors_of(adapted), {"tokens": 5})
        (eight / "BLAKE3SUMS").write_text("of other weights\n")
        blocks.main(["--adapter", str(eight), "--to", str(four)])
        self.assertEqual(sorted(path.name for path in four.iterdir()), [adapter.CONFIG, adapter.WEIGHTS, "prompt.toml"])
        self.assertLess((four / adapter.WEIGHTS).stat().st_size, 0.75 * (eight / adapter.WEIGHTS).stat().st_size)
        adapter.write(exported, made, tensors_of(adapted), {"tokens": 5}, bits=4)
        tokens = torch.randint(3, 120, (2, 9))
        plain = LlamaForCausalLM.from_pretrained(made)(tokens).logits
        ours = model.eval()(tokens).logits
        for directory in (four, exported):
            again, other = opened(made, torch.device("cpu"), torch.float32)
            adapter.read(directory, made, other)
            lost = (again.eval()(tokens).logits - ours).abs().mean() / (ours - plain).abs().mean()
            self.assertLess(lost.item(), 0.15)

    def test_rows_of_no_whole_blocks_are_halves(self):
        matrix = numpy.linspace(-1, 1, 2 * 24, dtype=numpy.float32).reshape(2, 24)
        path = self.directory / "some.safetensors"
        blocks.write(path, {"some.lora_A.weight": matrix})
        read = blocks.matrices(path)["some.lora_A.weight"]
        self.assertLess(numpy.abs(read - matrix).max(), 1e-3)
