"""Laws that the recipes stand on. `python -m unittest discover training` (needs training/requirements.txt)."""

import contextlib
import io
import json
import random
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from alignment import instances
from encoder import align, attention, export, head, links, strangers, teachers, unpack
from encoder.student import Cut, pooled, student, unexplained
from encoder.vocabulary import train as train_vocabulary
from judge.__main__ import meaning_sheet, meanings
from judge import answers, generations, hidden, inputs, proposals, worth
from judge.shares import apportioned, wilson
from paraphrase.export import reading_typographic_signs
from paraphrase.language_model import END, KneserNey, LanguageModel
from paraphrase.loss import SlicedCrossEntropy
from paraphrase.marks import avoidable, corrupt
from paraphrase.measures import change_rate, holds, is_copy, spelling, trigger_faults
from paraphrase.prepare import TEXT_REPEATS, Repeats, fault
from paraphrase.text import spaced, unspaced
from paraphrase.tokenizer import train as train_tokenizer
from paraphrase.words import count, known
from vectors.counts import END as END_OF_SENTENCE, neighbours, WINDOW
from vectors.measure import lemma, measure, vector_of
from vectors.table import reduce, unit

TEXTS = ["They checked the bill.", "The bill was checked again.", "Nobody checks bills on Sundays, he said."] * 20


class InputsOfAFilter(unittest.TestCase):
    def test_the_area_is_the_share_of_pairs_in_order(self):
        labels = numpy.array([1.0, 0.0, 1.0, 0.0])
        self.assertEqual(inputs.area(numpy.array([4, 1, 3, 2]), labels), 1.0)
        self.assertEqual(inputs.area(numpy.array([1, 4, 2, 3]), labels), 0.0)
        self.assertEqual(inputs.area(numpy.array([1, 1, 1, 1]), labels), 0.5)
        self.assertEqual(inputs.area(numpy.array([3, 1, 1, 2]), labels), 0.625)

    def test_an_input_that_tells_them_apart_is_worth_something(self):
        rng = random.Random(1)
        outputs = [{"sentence": f"x{at}", "aligner": rng.random(), "told": at % 3 > 0} for at in range(90)]
        labels = numpy.array([float(output["told"]) for output in outputs])
        without, more = (inputs.cross_validated(outputs, labels, names, 60) for names in (["aligner"], ["aligner", "told"]))
        self.assertGreater(inputs.area(more, labels), 0.95)
        low, high = inputs.gain(without, more, labels)
        self.assertTrue(0 < low <= high)


class WorthOfACandidate(unittest.TestCase):
    def test_the_fit_finds_the_weights_that_made_the_labels(self):
        rng = numpy.random.default_rng(1)
        values = rng.normal(3, 2, (4000, 2))
        made = 1 / (1 + numpy.exp(-(0.5 - 1.0 * values[:, 0] + 0.7 * values[:, 1])))
        bias, weights = worth.logistic(values, (rng.random(4000) < made).astype(float))
        self.assertAlmostEqual(bias, 0.5, delta=0.25)
        numpy.testing.assert_allclose(weights, [-1.0, 0.7], atol=0.1)

    def test_a_candidate_is_told_by_weights_that_did_not_see_it(self):
        rng = numpy.random.default_rng(1)
        values, labels = rng.normal(0, 1, (100, 60)), (rng.random(100) < 0.5).astype(float)
        parts = numpy.arange(100) % worth.FOLDS
        bias, weights = worth.logistic(values, labels)
        self.assertGreater(inputs.area(values @ weights, labels), 0.85)
        self.assertLess(inputs.area(worth.cross_validated(values, labels, parts), labels), 0.75)


class AnswersAboutProposals(unittest.TestCase):
    def test_many_answers_say_more_than_one_and_none_says_nothing(self):
        def of(evokes, asked):
            return answers.answer({"evokes": evokes, "verified": asked})

        self.assertEqual(answers.answer({}), 0.0)
        self.assertTrue(of(0.9, 9) > of(0.9, 1) > 0 > of(0.1, 1) > of(0.1, 9))
        self.assertAlmostEqual(of(0.5, 7), 0.0)

    def test_answers_that_tell_right_proposals_add_to_a_score_on_frames_that_the_fit_did_not_see(self):
        rng = numpy.random.default_rng(1)
        labels = (rng.random(400) < 0.3).astype(float)
        score, said = rng.normal(labels, 1), rng.normal(2 * labels, 1)
        frames = [f"Frame_{at % 40}" for at in range(400)]
        found = answers.held_out([score, said], labels, frames)
        self.assertGreater(inputs.area(found, labels), inputs.area(score, labels) + 0.05)


class Tokenizers(unittest.TestCase):
    def test_every_text_comes_back_from_the_rewriters_pieces(self):
        tokenizer = train_tokenizer(TEXTS, 256 + 60)
        rng = random.Random(1)
        for _ in range(300):
            ranges = [(0x21, 0x7F), (0xA1, 0xD800), (0xE000, 0x10FFFF)]
            signs = [chr(rng.randrange(*rng.choice(ranges))) for _ in range(rng.randrange(1, 12))]
            text = "".join(sign + rng.choice(["", "", " "]) for sign in signs).strip().replace("\u2581", "")
            if text:
                self.assertEqual(tokenizer.decode(tokenizer.encode(text).ids), text)

    def test_what_is_shipped_reads_typographic_signs_as_ascii(self):
        tokenizer = train_tokenizer(TEXTS, 256 + 60)
        shipped = Tokenizer.from_str(json.dumps(reading_typographic_signs(json.loads(tokenizer.to_str()))))
        typographic, plain = "\u201cIt\u2019s late\u2026\u201d \u2013 he said", '"It\'s late..." - he said'
        self.assertEqual(shipped.encode(typographic).ids, tokenizer.encode(plain).ids)

    def test_a_pair_is_cut_as_bert_cuts_it(self):
        encoding = train_vocabulary(TEXTS, 200).encode("They checked", "the bill")
        self.assertEqual((encoding.tokens[0], encoding.tokens[-1]), ("[CLS]", "[SEP]"))
        self.assertEqual(sorted(set(encoding.type_ids)), [0, 1])


class Generations(unittest.TestCase):
    def test_marks_nest_and_each_names_its_element(self):
        spans = [(0, 4, "Agent"), (13, 30, "Theme"), (17, 30, "Place")]
        text = "They checked the bill in there"
        self.assertEqual(
            generations.marked(text, [(5, 12)], spans),
            "[They]<Agent> [[checked]] [the [bill in there]<Place>]<Theme>",
        )

    def test_two_names_are_exchanged_or_none(self):
        self.assertEqual(generations.exchanged([(0, 1, "A"), (2, 3, "B")]), [(0, 1, "B"), (2, 3, "A")])
        self.assertIsNone(generations.exchanged([(0, 1, "A"), (2, 3, "A")]))
        self.assertIsNone(generations.exchanged([]))

    def test_modes_have_equal_shares_as_far_as_they_go(self):
        self.assertEqual(generations.equal_shares({"fe": 90, "none": 90, "frame-fe": 90}, 200),
                         {"fe": 67, "none": 66, "frame-fe": 67})  # fmt: skip
        self.assertEqual(generations.equal_shares({"fe": 10, "none": 300}, 200), {"fe": 10, "none": 190})
        self.assertEqual(generations.equal_shares({"fe": 3}, 200), {"fe": 3})

    def test_a_sentence_is_accepted_if_both_criteria_hold(self):
        kinds = ["human", "human", "exchanged", "infill fe", "infill fe"]
        items = [{"number": number, "kind": kind} for number, kind in enumerate(kinds, 1)]
        labels = {1: (True, True), 2: (True, True), 3: (True, False), 4: (True, True), 5: (False, True)}
        rows = generations.score(items, labels)
        self.assertEqual(rows["infill fe"], [2, 1, 2, 1])
        self.assertEqual(rows["exchanged"], [1, 1, 0, 0])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertTrue(generations.print_score(items, labels))
            self.assertFalse(generations.print_score(items, labels | {3: (True, True)}))
        self.assertIn("71.1%  77.7%", printed.getvalue())

    def test_a_line_that_is_no_verdict_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "labels.tsv")
            for text in ("1\ty\n", "1\ty\tmaybe\n", "x\ty\ty\n", ""):
                path.write_text(text, encoding="utf-8")
                with self.assertRaises(SystemExit):
                    generations.read_labels(path, [{"number": 1}])


class HiddenUnits(unittest.TestCase):
    def test_a_fifth_is_hidden_and_seeds_are_of_as_many_other_units_as_there_are(self):
        units = {f"F{frame:03}": {f"w{unit}.v" for unit in range(frame)} for frame in range(8, 190)}
        exemplars = {(frame, name): [f"{frame}/{name}/{at}" for at in range(3)] for frame, names in units.items() for name in names}
        planned = hidden.plan(units, exemplars, random.Random(1))
        self.assertEqual({part: len(frames) for part, frames in planned.items()}, hidden.FRAMES)
        names = [frame for frames in planned.values() for frame, _, _ in frames]
        self.assertEqual(len(names), len(set(names)))
        for frame, gone, seeds in (one for frames in planned.values() for one in frames):
            self.assertGreaterEqual(len(units[frame]), 10)
            self.assertEqual(len(gone), max(1, round(len(units[frame]) / 5)))
            of = [seed.split("/")[1] for seed in seeds]
            self.assertFalse(set(of) & set(gone))
            self.assertEqual(len(seeds), min(20, 3 * (len(units[frame]) - len(gone))))
            self.assertEqual(len(set(of)), min(20, len(units[frame]) - len(gone)))


class Lexicographer:
    """A store with a proposal and human sets of three frames, each of one LU."""

    def run(self, *arguments):
        command = arguments[0]
        if command == "frames":
            return [{"name": name, "definition_text": f"What is {name}."} for name in ("Checking", "Roaming", "Singing")]
        if command == "relations":
            return [{"parent": "Checking", "child": "Singing"}]
        if command == "lus":
            return [{"frame": frame, "name": name} for frame, name in self.UNITS.items()]
        if command == "proposals":
            sentence = {"set": "g1", "text": "They vetted it .", "trigger": "vetted"}
            return [{"frame": "Checking", "lu": "vet.v", "score": 0.5, "sentences": [sentence]}]
        return [{"id": f"x{name}", "frame": frame, "lu": name} for frame, name in self.UNITS.items()]

    def sets(self, ids):
        return [{"id": name, "text": "They vetted it .", "targets": [[5, 11]]} for name in ids]

    UNITS = {"Checking": "check.v", "Roaming": "roam.v", "Singing": "sing.v"}


class ProposalSheets(unittest.TestCase):
    def test_a_sheet_holds_proposals_among_own_and_foreign_units_and_does_not_say_which(self):
        given = types.SimpleNamespace(seed=1, ranker=None, frames=None, drawn=False, count=4, expression=[])
        items = proposals.draw(Lexicographer(), given)
        kinds = {one["kind"]: (one["lu"], one["frame"]) for one in items}
        # `sing.v` is of a frame that is related to Checking, so no control.
        self.assertEqual(kinds, {"generated": ("vet.v", "Checking"), "human": ("check.v", "Checking"),
                                 "foreign": ("roam.v", "Checking")})  # fmt: skip
        sheet = proposals.sheet(items)
        self.assertEqual(sheet.count("[[vetted]]"), 3)
        for word in ("generated", "human", "foreign", "0.5"):
            self.assertNotIn(word, sheet)


class Words(unittest.TestCase):
    def test_spacing_is_undone(self):
        for text in TEXTS[:3] + ["He couldn't (or wouldn't) say, \"never again\"."]:
            self.assertEqual(unspaced(spaced(text)), text)

    def test_measures_of_a_rewriting(self):
        self.assertTrue(is_copy("He could n't , he said .", "he couldn't, he said."))
        self.assertEqual(change_rate("a b c d", "a b x y"), 0.5)
        self.assertTrue(holds("They checked the bill.", "the bill") and not holds("They checked", "check"))
        self.assertEqual(spelling("organise"), spelling("organize"))
        self.assertEqual(spelling("colour-coded"), spelling("color coded").replace(" ", ""))

    def test_faults_of_a_trigger(self):
        class Morphology:
            def is_known(self, word):
                return word != "blorp"

            def is_variant(self, word, other):
                return word[:4] == other[:4]

        def faults(trigger):
            return trigger_faults("They checked the bill .", trigger, ["checked"], Morphology())

        self.assertEqual(faults("verified"), set())
        self.assertEqual(faults("blorp"), {"unknown"})
        self.assertEqual(faults("checks"), {"variant"})
        self.assertEqual(faults("bill"), {"missing"})
        self.assertEqual(faults("of the"), {"missing"})

    def test_a_word_is_known_when_people_wrote_it_often_enough(self):
        of_people = count(["a\tthe cat saw Kyiv\tx"] * 2)
        counts = count(["a\tquicklyened\tx"] * 9 + ["a\tthe cat\tx"] * 2) + of_people
        words = known(counts, of_people)
        self.assertEqual([word for word in words if len(word) > 2], ["cat", "the"])
        self.assertEqual(words, sorted(words))

    def test_pairs_are_refused_for_a_reason(self):
        good = ("The old man walked slowly to the market.", "Slowly, the elderly man went to the market.")
        self.assertIsNone(fault(*good))
        self.assertEqual(fault(good[0], good[0]), "near copy")
        self.assertEqual(fault(good[0], "Nobody ever saw cats that sing so well."), "word overlap")
        self.assertEqual(fault(good[0] + " 12", good[1] + " 13"), "numbers")
        self.assertEqual(fault("Old men walk with Anna to the market", "The men go with Peter to the market"), "names")
        # A close pair is of use when a word of each stands for another; a longer one is none.
        self.assertIsNone(fault("They checked the old bill again today", "They paid the old bill again today"))
        longer = ("They checked the old bill again today", "They checked the old bill again today at noon")
        self.assertEqual(fault(*longer), "nothing replaced")
        inflected = ("They often checked the old bill today", "They were often checking old bills today")
        self.assertEqual(fault(*inflected), "near copy")

    def test_what_repeats_is_refused_when_it_was_often_enough(self):
        repeats = Repeats()
        for number in range(TEXT_REPEATS):
            self.assertIsNone(repeats.fault(f"source {number}", "a target"))
            repeats.add(f"source {number}", "a target")
        self.assertEqual(repeats.fault("a target", "source 0"), "repeated")
        self.assertEqual(repeats.fault("another source", "a target"), "text repeated")
        for number in range(9):
            repeats.add("x", f"John paid {number}")
        self.assertEqual(repeats.fault("y", "Anna paid 77"), "template")


class Marks(unittest.TestCase):
    def test_close_pairs_are_only_learned_from_with_a_mark(self):
        close = ("They checked the old bill again today", "They paid the old bill again today")
        for seed in range(20):
            source = corrupt(*close, random.Random(seed))
            self.assertEqual(source, "They <avoid>checked the old bill again today")

    def test_names_and_words_that_the_target_has_are_not_avoided(self):
        source = "Anna walked slowly to Brno"
        places = avoidable(source, "Peter goes slowly to Wien")
        self.assertEqual([source[start:end] for start, end in places], ["walked"])


class Losses(unittest.TestCase):
    def test_in_slices_it_is_pytorchs_cross_entropy(self):
        torch.manual_seed(1)
        hidden, weight = (torch.randn(size, 16, requires_grad=True) for size in (600, 50))
        bias, targets = torch.randn(50), torch.randint(0, 50, (600,))
        wanted = torch.nn.functional.cross_entropy(hidden @ weight.T + bias, targets, label_smoothing=0.1)
        gradients = torch.autograd.grad(3 * wanted, (hidden, weight))
        found = SlicedCrossEntropy.apply(hidden, weight, bias, targets, 0.1, torch.float32)
        torch.testing.assert_close(found, wanted)
        torch.testing.assert_close(torch.autograd.grad(3 * found, (hidden, weight)), gradients)


class Fluency(unittest.TestCase):
    def test_probabilities_sum_to_one_in_every_context(self):
        texts = [list("abab"), list("abc"), list("ca")]
        kinds = ["a", "b", "c", "d", END]
        model = KneserNey(3, texts, lambda _: 1 / len(kinds))
        for context in (("<s>", "<s>"), ("a", "b"), ("c", "c"), ("d", "d")):
            self.assertAlmostEqual(sum(model.probability(context, kind) for kind in kinds), 1.0)

    def test_what_was_learned_is_likelier_and_a_non_word_is_unlikely(self):
        model = LanguageModel([text.lower().split() for text in TEXTS])
        perplexity = lambda text: model.perplexity([text.split()])
        self.assertLess(perplexity("they checked the bill."), perplexity("bill. the checked they"))
        self.assertLess(perplexity("they checked the bill."), perplexity("they chxckqd the bill."))


class Vectors(unittest.TestCase):
    def test_neighbours_stand_in_one_sentence_and_the_nearest_are_the_heaviest(self):
        # Words 0 to 2; 3 is a rare word, 4 the end of a sentence.
        near = neighbours(numpy.array([0, 1, 3, 2, 4, 2, 4]), 3).toarray()
        self.assertEqual(near[0, 1], 1)
        self.assertEqual(near[1, 2], near[2, 1])
        self.assertAlmostEqual(near[1, 2], (WINDOW - 1) / WINDOW)
        self.assertEqual(near[2, 2], 0)
        self.assertEqual(END_OF_SENTENCE, -1)

    def test_reducing_keeps_the_angles_of_a_table_that_fits(self):
        flat = numpy.random.default_rng(1).standard_normal((40, 3)) @ numpy.random.default_rng(2).standard_normal((3, 20))
        flat = flat - flat.mean(0)
        before, after = unit(flat), reduce(flat, 3)
        numpy.testing.assert_allclose(before @ before.T, after @ after.T, atol=1e-6)

    def test_phrases_have_the_direction_of_their_words_and_marks_none(self):
        rows, table = {"run": 0, "away": 1, ",": 2}, unit(numpy.array([[1.0, 0], [0, 1], [-1, 0]]))
        numpy.testing.assert_allclose(vector_of("run away", rows, table), [0.5**0.5, 0.5**0.5])
        numpy.testing.assert_allclose(vector_of("run ,", rows, table), [1, 0])
        self.assertIsNone(vector_of("nothing", rows, table))
        self.assertEqual(lemma("(in/out) line.n"), "line")
        self.assertEqual(lemma("give_up.v"), "give up")

    def test_a_frame_of_words_that_lie_together_finds_its_own(self):
        frames = {"A": {"a", "b", "c", "d"}, "B": {"w", "x", "y", "z"}}
        words = sorted(set().union(*frames.values()))
        table = unit(numpy.array([[1, 0.1 * at] if word < "m" else [0.1 * at, 1] for at, word in enumerate(words)]))
        found = measure(frames, words, table)
        self.assertEqual((found["units"], found["own frame first, %"]), (8, 100.0))


class Judging(unittest.TestCase):
    def test_shares_are_kept(self):
        numbers = apportioned({1: 300, 2: 290, 3: 10}, 60)
        self.assertEqual((sum(numbers.values()), numbers), (60, {1: 30, 2: 29, 3: 1}))
        self.assertEqual(apportioned({1: 2, 2: 3}, 60), {1: 2, 2: 3})

    def test_meaning_is_asked_of_the_same_sets_beside_their_sources(self):
        def record(name, text, seed=None):
            return {"id": name, "text": text, "targets": [[5, 11]], "generation": {"seed": seed}}

        records = [record("x1", "They tested it ."), record("x2", "They roamed on ."), record("g1", "They proved it.", "x1"),
                   record("g2", "They strayed on.", "x2")]  # fmt: skip
        program = types.SimpleNamespace(sets=lambda names: [one for one in records if one["id"] in names])
        items = [{"kind": "generated", "round": 1, "set": name, "frame": "F", "definition": "D", "text": text}
                 for name, text in (("g1", "They [[proved]] it."), ("g2", "They [[strayed]] on."))]  # fmt: skip
        items.append({"kind": "human", "round": None, "set": "x3", "frame": "F", "definition": "D", "text": "T"})
        pairs = {(one["kind"], one["source"], one["text"]) for one in meanings(program, items, 1)}
        sources = {"g1": "They [[tested]] it.", "g2": "They [[roamed]] on."}
        wanted = {("generated", sources[one["set"]], one["text"]) for one in items[:2]}
        wanted |= {("human", source, source) for source in sources.values()}
        wanted |= {("foreign", sources["g1"], items[1]["text"]), ("foreign", sources["g2"], items[0]["text"])}
        self.assertEqual(pairs, wanted)
        sheet = meaning_sheet([{"number": 1, "frame": "F", "definition": "D", "source": "S", "text": "T"}])
        self.assertEqual(sheet, "1. F: D\n    A: S\n    B: T\n\n")

    def test_intervals_hold_their_share(self):
        low, high = wilson(45, 50)
        self.assertAlmostEqual(low, 0.786, 3)
        self.assertAlmostEqual(high, 0.957, 3)
        self.assertEqual(wilson(0, 0), (0.0, 1.0))


def an_aligner(directory, tokenizer):
    """What `align` leaves in `best/`, with random weights."""
    directory.mkdir(parents=True)
    model = student("tiny", tokenizer.get_vocab_size())
    model.save_pretrained(directory)
    tokenizer.save(str(directory / "tokenizer.json"))
    save_file(head.network(128, True).tensors(), directory / "head.safetensors")
    save_file(head.linker(128).tensors(), directory / "linker.safetensors")


class AlignmentData(unittest.TestCase):
    def setUp(self):
        self.data = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for folder in ("spans", "words"):
            (self.data / folder).mkdir()
        pairs = [{"id": str(n), "source": ["Surely", "word", str(n)], "target": ["word", str(n)]} for n in range(40)]
        words = [pair | {"sure": [[1, 0], [2, 1]], "possible": []} for pair in pairs]
        spans = [pair | {"id": f"corpus/{pair['id']}", "source_span": [1, 2], "target_span": [0, 1], "changed": False} for pair in pairs]
        instances.write(self.data / "words" / "corpus.train.jsonl", words)
        instances.write(self.data / "apart.words.jsonl", words[30:])
        for part in instances.PARTS:
            instances.write(self.data / "spans" / f"{part}.jsonl", spans + [spans[0] | {"source_span": [0, 2]}, spans[0] | {"source_span": [0, 3]}])

    def make(self, *given):
        with contextlib.redirect_stdout(io.StringIO()):
            instances.main(["--data", str(self.data), "--out", str(self.data / "out"), *map(str, given)])
        return instances.read(self.data / "out" / "train.jsonl")

    def test_pairs_set_apart_are_not_trained_on(self):
        everything = self.make()
        kept = self.make("--apart", self.data / "apart.words.jsonl")
        apart = instances.read(self.data / "out" / "apart.jsonl")
        self.assertEqual({one["id"] for one in apart}, {f"corpus/{n}" for n in range(30, 40)})
        self.assertEqual(kept, [one for one in everything if one["source"][2] not in map(str, range(30, 40))])
        self.assertTrue(all(one["target_span"] for one in apart))

    def test_files_that_set_nothing_apart_are_refused(self):
        instances.write(self.data / "other.jsonl", [{"source": ["else"], "target": ["else"]}])
        self.make("--apart", self.data / "apart.words.jsonl")
        before = instances.read(self.data / "out" / "apart.jsonl")
        with self.assertRaises(SystemExit):
            self.make("--apart", self.data / "other.jsonl")
        self.assertEqual(instances.read(self.data / "out" / "apart.jsonl"), before)

    def test_nothing_stays_apart_that_is_trained_on_again(self):
        self.make("--apart", self.data / "apart.words.jsonl")
        self.make()
        self.assertFalse((self.data / "out" / "apart.jsonl").exists())


class Aligning(unittest.TestCase):
    def test_candidates_are_the_spans_of_allowed_length(self):
        self.assertEqual(head.candidates(1, 3), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
        self.assertEqual({end - start for start, end in head.candidates(8, 20)}, set(range(3, 14)))

    def test_cues_of_links_are_those_that_fnstore_computes(self):
        # The same numbers as in src/align/link_scores.rs.
        scores = torch.tensor([[0.5, 0, 0.25, 0], [0, 0.75, 0, 0.125], [0, 0.5, 0, 1]])
        found = links.span_cues(scores, (0, 2), [(1, 3), (0, 4)])
        expected = [0.75, 0.25, 0.5, 0.125, 0.5, 0.125, 0.5, (0.25 + 0.75) / 2, (0.5 + 0.125) / 2, 0.25]
        self.assertEqual(found[0].tolist(), expected)
        self.assertEqual(links.span_cues(scores, (0, 3), [(0, 4)])[0, [2, 3, 4, 5, 8, 9]].tolist(), [0.0] * 6)

    def test_features_of_word_pairs_are_those_that_fnstore_computes(self):
        # The same numbers as in src/align/link_features.rs.
        states = torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([[0.0, 3.0], [1.0, 0.0]])
        rows = links.pair_features(*states, (("The", "locks"), ("locked", "the")))
        self.assertEqual(rows.shape, (2, 2, 4 + links.PAIR_CUES))
        self.assertEqual(rows[1, 0, :7].tolist(), [0.0, 1.0, 0.0, 6.0, 1.0, 0.0, 0.0])
        self.assertGreater(min(rows[1, 0, 7:9].tolist()), 0.99)
        self.assertAlmostEqual(rows[1, 0, 9].item(), 16 / 36, 6)
        self.assertEqual(rows[1, 0, 10:13].tolist(), [0.0, 0.0, 0.0])
        self.assertEqual(rows[1, 0, 16].item(), 0.5)
        self.assertEqual(rows[0, 1, [9, 10, 17]].tolist(), [1.0, 1.0, 0.5])

    def test_a_pair_is_read_the_other_way_round(self):
        items = [{"source_span": [0, 1], "target_span": [1, 3]}]
        pair = align.exchanged((["a", "b"], ["c", "d", "e"], items))
        self.assertEqual(pair, (["c", "d", "e"], ["a", "b"], [{"source_span": [1, 3], "target_span": [0, 1]}]))
        known = {(("a", "b"), ("c", "d", "e")): torch.tensor([[0.0, 1, 1], [0, 0, 0]])}
        self.assertEqual(links.wanted(known, *pair[:2]).tolist(), [[0, 0], [1, 0], [1, 0]])
        self.assertIsNone(links.wanted(known, ["a"], ["b"]))
        unanswered = (["a"], ["b"], items + [{"source_span": [0, 1], "target_span": None}])
        self.assertEqual(align.exchanged(unanswered), unanswered)

    def test_nothing_answers_to_the_words_of_a_stranger_beside_a_pair(self):
        items = [{"source_span": [0, 1], "target_span": [1, 3]}, {"source_span": [1, 2], "target_span": None}]
        pair, gold = (["a", "b"], ["c", "d", "e"], items), torch.arange(6.0).reshape(2, 3) + 1
        other = (["x", "y"], ["z"], [])
        seen = set()
        for seed in range(20):
            (source, target, moved), links_of = align.beside_stranger(pair, gold, other, random.Random(seed))
            seen.add((tuple(source), tuple(target)))
            self.assertEqual(links_of.shape, (len(source), len(target)))
            for item, at in zip(items, moved):
                for side, words, of in (("source_span", pair[0], source), ("target_span", pair[1], target)):
                    cut = lambda words, span: span and words[slice(*span)]
                    self.assertEqual(cut(words, item[side]), cut(of, at[side]))
            for i, one in enumerate(source):
                for j, two in enumerate(target):
                    known = one in pair[0] and two in pair[1]
                    wanted = gold[pair[0].index(one), pair[1].index(two)] if known else 0.0
                    self.assertEqual(links_of[i, j], wanted)
        self.assertEqual(len(seen), 4)
        self.assertIsNone(align.beside_stranger(pair, None, other, random.Random(1))[1])
        for none in (pair, (["x"] * strangers.MOST_WORDS, ["z"] * strangers.MOST_WORDS, [])):
            self.assertEqual(align.beside_stranger(pair, gold, none, random.Random(1))[0], pair)

    def test_words_are_linked_that_score_high_or_are_each_the_others_best(self):
        scores = torch.tensor([[0.9, 0.8, 0.1], [0.2, 0.3, 0.3]])
        linked = lambda *both: [tuple(place) for place in links.decode(scores, *both).nonzero().tolist()]
        self.assertEqual(linked(0.5, 0.5), [(0, 0), (0, 1)])
        self.assertEqual(linked(0.5, 0.25), [(0, 0), (0, 1), (1, 2)])
        self.assertEqual(linked(1.1, 0.25), [(0, 0), (1, 2)])
        wanted = torch.tensor([[1.0, 0.5, 0], [0, 0, 0]])
        self.assertAlmostEqual(links.error_rate([(scores, wanted)], 0.5, 0.5), 1 - (1 + 2) / (2 + 1))

    def test_words_are_means_of_their_pieces(self):
        tokenizer = train_vocabulary(TEXTS, 60)
        cut = Cut([tokenizer.encode("They checked bills"), tokenizer.encode("Nobody", "checks")])
        self.assertEqual(cut.sides.tolist(), [2, 0, 0, 0, 2, 2, 0, 2, 1, 2])
        states = torch.arange(cut.ids.numel() * 2.0).view(*cut.ids.shape, 2)
        words = pooled(states, cut)
        for word in range(cut.count):
            torch.testing.assert_close(words[word], states[cut.words == word].mean(0))

    def test_the_threshold_drops_what_is_mostly_wrong(self):
        item = {"target_span": [0, 1]}
        found = [(item, (0, 1), 0.9), (item, (1, 2), 0.2), (item, (0, 1), 0.8), (item, (2, 3), 0.1)]
        self.assertTrue(0.2 < head.best_threshold(found) < 0.8)
        self.assertEqual(head.best_threshold(found[:1]), 0.0)

    def test_pairs_encoded_together_have_the_states_that_they_have_alone(self):
        torch.manual_seed(1)
        tokenizer = train_vocabulary(TEXTS, 60)
        model = student("tiny", tokenizer.get_vocab_size()).eval()
        pairs = [(text.split(), TEXTS[-1].split()[: 1 + at % 4]) for at, text in enumerate(TEXTS * 4)][: head.TOGETHER + 3]
        cpu = torch.device("cpu")
        with torch.no_grad():
            together = head.encode(model, tokenizer, pairs, cpu, exact=True)
            for pair, sums in zip(pairs, together):
                alone = head.encode(model, tokenizer, [pair], cpu, exact=True)[0]
                torch.testing.assert_close(sums, alone)
                self.assertEqual(list(map(len, sums)), [len(side) + 1 for side in pair for _ in range(2)])
                means = head.word_states(sums)
                self.assertEqual(means.shape, (sum(map(len, pair)), 128))

    def test_teachers_are_asked_for_spans_that_begin_and_end_with_content_words(self):
        source = "the locks of the doors were checked , said 3 people".split()
        drawn = {span for seed in range(200) for span in teachers.spans(source, random.Random(seed))}
        for start, end in drawn:
            self.assertTrue(0 <= start < end <= len(source) and end - start <= 4)
            self.assertTrue(teachers.content(source[start]) and teachers.content(source[end - 1]), source[start:end])
        self.assertTrue({(1, 2), (1, 5), (6, 9)} <= drawn, drawn)
        self.assertEqual({source[start] for start, _ in drawn}, {"locks", "doors", "checked", "said", "people"})
        self.assertEqual(teachers.spans([",", "of"], random.Random(1)), [])

    def test_what_links_say_of_a_pair(self):
        scores = torch.tensor([[0.9, 0.1, 0.0], [0.1, 0.0, 0.6], [0.2, 0.3, 0.4]])
        self.assertEqual(teachers.cover(scores, (0, 1)), (0, 1))
        self.assertEqual(teachers.cover(scores, (0, 2)), (0, 3))
        self.assertIsNone(teachers.cover(scores, (2, 3)))
        self.assertEqual(teachers.answered(["locks", "the", "doors"], scores, range(3)), 0.5)
        self.assertEqual(teachers.answered(["locks", "the", "doors"], scores, range(2)), 1.0)
        self.assertEqual(teachers.answered(["of", ","], scores[:2], range(2)), 0.0)

    def test_the_share_of_variance_that_is_not_explained(self):
        wanted = torch.randn(400, 3, generator=torch.Generator().manual_seed(1)) * torch.tensor([2.0, 10.0, 5.0])
        self.assertEqual(unexplained(wanted, wanted).item(), 0.0)
        # Of the mean alone all is left, whatever the scale; of a dimension that hardly varies, little counts.
        self.assertAlmostEqual(unexplained(wanted.mean(0).expand_as(wanted), wanted).item(), 1.0, 1)
        still = torch.cat([wanted[:, 1:2], torch.zeros(400, 1)], 1)
        self.assertLess(unexplained(still + torch.tensor([0.0, 0.5]), still).item(), 0.06)

    def test_attention_is_pooled_from_pieces_to_words_where_they_are_predicted_and_read(self):
        tokenizer = train_tokenizer(TEXTS, 300)
        source, target = ["Nobody", "checked"], ["He", "checks", "bills", "."]
        ids, of = attention.cut(tokenizer, target)
        self.assertEqual((set(of), of[-1], of[0]), ({0, 1, 2, 3, -1}, -1, 0))
        self.assertEqual(tokenizer.decode(ids), "He checks bills.")
        of_source = attention.cut(tokenizer, source)[1]

        class Forced:
            """Whose one head looks, as it predicts the piece after the first `t`, at the source's first piece by `t` hundredths."""

            config = types.SimpleNamespace(decoder_start_token_id=0)

            def __call__(self, input_ids, decoder_input_ids, output_attentions):
                weights = torch.zeros(1, 1, decoder_input_ids.shape[1], input_ids.shape[1])
                weights[..., 0] = torch.arange(decoder_input_ids.shape[1]) / 100
                return types.SimpleNamespace(cross_attentions=[weights])

        predicting, reading = attention.looks(Forced(), tokenizer, source, target)
        for word in range(4):
            steps = [at for at, its in enumerate(of) if its == word]
            self.assertAlmostEqual(predicting[word, 0].item(), sum(steps) / len(steps) / 100, 6)
            self.assertAlmostEqual(reading[word, 0].item(), sum(steps) / len(steps) / 100 + 0.01, 6)
        self.assertEqual(of_source[0], 0)
        self.assertEqual(predicting[:, 1].tolist(), [0.0] * 4)

    def test_pairs_that_share_a_sentence_are_in_one_half(self):
        pairs = [("a", "b"), ("c", "d"), ("b", "e"), ("f", "g"), ("e", "d")]
        self.assertEqual(attention.halves(pairs), ([0, 2], [1, 3]))

    def test_what_teachers_say_is_the_mean_of_theirs_and_the_same_again(self):
        torch.manual_seed(1)
        tokenizer = train_vocabulary(TEXTS, 60)
        with tempfile.TemporaryDirectory() as directory:
            directories = [Path(directory) / name for name in ("a", "b")]
            for path in directories:
                an_aligner(path, tokenizer)
            unlabelled = Path(directory) / "pairs.tsv"
            unlabelled.write_text("".join(f"{text}\t{text}\tmade\n" for text in TEXTS))
            alone = [teachers.Unlabelled([unlabelled], [path], 1) for path in directories]
            both = teachers.Unlabelled([unlabelled], directories, 1)
            crowd = teachers.Unlabelled([unlabelled], directories[:1], 1, strangers=1.0)
        with mock.patch.object(teachers, "ANSWERED", 0.0):
            first, second, mean, again = (one.draw(4, 7) for one in (*alone, both, both))
        self.assertEqual(len(mean), 4)
        for (*pair, a), (_, _, b), (_, _, c), (*_, d) in zip(first, second, mean, again):
            torch.testing.assert_close(c.links, (a.links + b.links) / 2)
            self.assertEqual(c.states.shape, (sum(map(len, pair)), 128))
            torch.testing.assert_close(c.states, a.states)
            torch.testing.assert_close(c, d)
        with mock.patch.object(teachers, "ANSWERED", 0.0):
            joined = [pair for place in range(5) for pair in crowd.draw(4, place)]
        # Each pair was a text and itself; now one side of it begins or ends as the other side is, unless its
        # stranger was itself.
        self.assertTrue(any(source != target for source, target, _ in joined))
        for *pair, _ in joined:
            short, long = sorted(pair, key=len)
            self.assertIn(short, (long[: len(short)], long[-len(short) :]))

    def test_what_was_exported_is_unpacked_as_it_was(self):
        torch.manual_seed(1)
        tokenizer = train_vocabulary(TEXTS, 60)
        with tempfile.TemporaryDirectory() as directory:
            run, encoder, aligner, out = (Path(directory) / name for name in ("run", "encoder", "head", "out"))
            an_aligner(run / "best", tokenizer)
            (run / "best" / "training.json").write_text(json.dumps({"seed": 1, "epoch": 2}))
            item = {"source": ["bills"], "source_span": [0, 1], "target": ["a", "bill"], "target_span": [1, 2], "changed": True}
            (Path(directory) / "dev.jsonl").write_text(json.dumps(item) + "\n")
            words = Path(directory) / "words.jsonl"
            words.write_text(json.dumps({"source": "bills", "target": "a bill", "sure": [[0, 1]], "possible": []}) + "\n")
            given = ["--encoder", str(encoder), "--head", str(aligner)]
            with contextlib.redirect_stdout(io.StringIO()):
                export.main(["--run", str(run), "--data", directory, "--words", str(words), "--f32", *given])
            unpack.main([*given, "--out", str(out)])
            for name in ("head", "linker", "model"):
                before, after = (load_file(path / f"{name}.safetensors") for path in (run / "best", out))
                self.assertEqual(set(before), set(after))
                for of in before:
                    torch.testing.assert_close(before[of], after[of], rtol=0, atol=0)
            (encoder / "config.json").write_text("{}")
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                unpack.main([*given, "--out", str(out)])

    def test_attention_that_looks_at_its_word_has_no_errors(self):
        wanted = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        right, of = attention.mutual(torch.tensor([[0.9, 0.1], [0.2, 0.8]]), wanted)
        self.assertEqual((right, of), (4, 4))
        # A word that looks at nothing is not linked.
        right, of = attention.mutual(torch.tensor([[0.9, 0.0], [0.0, 0.0]]), wanted)
        self.assertEqual((right, of), (2, 3))


if __name__ == "__main__":
    unittest.main()
