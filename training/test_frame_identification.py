"""Laws of frame identification's recipe. `python -m unittest discover training` (needs training/requirements.txt)."""

import contextlib
import io
import random
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parent))

import torch

from frame_identification import corpus, data, model, spans, train
from frame_identification.measure import Found, add

# Tensors of a few numbers: threads would only wait for one another.
torch.set_num_threads(1)


def row(sentence, text, targets, frame, lexunit, name, origin="fulltext", seed=None):
    """A record of `fnstore query`."""
    generation = {"seed": seed} if seed else None
    return {
        "sentence": sentence, "text": text, "targets": targets, "frame": frame, "lu": lexunit, "id": name, "origin": origin,
        "generation": generation,
    }  # fmt: skip


class Store:
    """Answers queries as the program does."""

    def __init__(self, **answers):
        self.answers = answers

    def query(self, query):
        return [of for word, rows in self.answers.items() if word in query for of in rows]


def a_corpus(sentences, frames, lexicon=None):
    """A corpus without states."""
    made = object.__new__(corpus.Corpus)
    made.sentences, made.frames, made.null, made.lexicon = sentences, frames, len(frames), lexicon or {}
    made.number = {frame: at for at, frame in enumerate(frames)}
    return made


def a_target(words, frame, lexunit="check.v", name="f1", seed=None):
    return {"words": words, "frame": frame, "lu": lexunit, "set": name, "seed": seed}


class Spans(unittest.TestCase):
    def test_all_spans_have_one_to_three_words(self):
        expected = [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1)]
        self.assertEqual(spans.all_spans(4), expected)
        self.assertEqual(spans.all_spans(0), [])

    def test_targets_are_laid_on_words(self):
        stand = spans.places("They do n't check-in ; don't", ["They", "do", "n't", "check-in", ";", "do", "n't"])
        self.assertEqual(stand, [(0, 4), (5, 7), (8, 11), (12, 20), (21, 22), (23, 25), (25, 28)])
        self.assertEqual(spans.covered(stand, 5, 11), (1, 2, True))
        self.assertEqual(spans.covered(stand, 12, 17), (3, 1, False), "a part of a word")
        self.assertIsNone(spans.covered(stand, 0, 20), "four words")
        self.assertIsNone(spans.covered(stand, 4, 5), "a space")
        with self.assertRaises(ValueError):
            spans.places("They", ["Them"])

    def test_full_text_gives_negatives_and_other_sentences_their_targets_alone(self):
        targets = [(1, 1, "F"), (1, 1, "G"), (0, 2, "H")]
        whole = [(0, 1, None), (0, 2, "H"), (0, 3, None), (1, 1, "F"), (1, 2, None), (2, 1, None)]
        self.assertEqual(spans.labelled(3, True, targets), whole, "the second frame on a span is dropped")
        self.assertEqual(spans.labelled(3, False, targets), [(0, 2, "H"), (1, 1, "F")])
        self.assertEqual(spans.labelled(3, False, []), [])


class Data(unittest.TestCase):
    def test_a_discontinuous_target_is_one_span_and_a_second_frame_is_dropped(self):
        rows = [
            row("s2", "a b c d", [[0, 1], [4, 5]], "F", "f.v", "1"),
            row("s2", "a b c d", [[0, 5]], "G", "g.v", "2"),
            row("s2", "a b c d", [[2, 3]], "G", "g.v", "3"),
            row("s1", "a b", [], "G", "g.v", "4"),
        ]
        (sentence,) = data.read(Store(split=rows), "split=dev")
        self.assertEqual([(of.start, of.end, of.frame) for of in sentence.targets], [(0, 5, "F"), (2, 3, "G")])

    def test_what_is_measured_is_not_learned_from(self):
        store = Store(**{
            "split=test": [row("t", "He left .", [[3, 7]], "F", "f.v", "1")],
            "split=dev": [row("d1", "he left.", [[3, 7]], "F", "f.v", "2"), row("d2", "It ran", [[3, 6]], "F", "f.v", "3")],
            "split=train": [row("a", "It  RAN", [[4, 7]], "F", "f.v", "4"), row("b", "We sat", [[3, 6]], "G", "g.v", "5")],
            "origin=generated": [
                row("g1", "They sat", [[5, 8]], "G", "g.v", "6", "generated", "5"),
                row("g2", "It ran", [[3, 6]], "G", "g.v", "7", "generated", "5"),
                row("g3", "She ran", [[4, 7]], "F", "f.v", "8", "generated", "4"),
            ],
        })  # fmt: skip
        found = data.parts(store, "", "", None)
        names = {part: [of.id for of in sentences] for part, sentences in found.items()}
        self.assertEqual(names, {"test": ["t"], "dev": ["d2"], "train": ["b"], "generated": ["g1"]})
        self.assertNotIn("generated", data.parts(store, "", None, None))

    def test_an_arm_adds_the_generated_sentences_of_what_was_drawn(self):
        sentences = [{"part": "train", "targets": [a_target([0, 1, True], "F", name=str(at))]} for at in range(10)]
        sentences += [{"part": "generated", "targets": [a_target([0, 1, True], "F", seed=str(at))]} for at in range(10)]
        of = a_corpus(sentences, ["F"])
        plain, augmented = (train.drawn(of, arm, 1, 50) for arm in train.ARMS)
        self.assertEqual(len(plain), 5)
        self.assertEqual(augmented, plain + [10 + at for at in plain])
        self.assertEqual(train.drawn(of, "plain", 1, 50), plain)
        self.assertNotEqual(train.drawn(of, "plain", 2, 50), plain)
        self.assertEqual(len(train.drawn(of, "augmented", 1, 100)), 20)


    def test_each_step_has_its_share_of_sentences_that_are_not_full_text(self):
        steps = list(train.grouped(range(5), range(10, 17), 2, random.Random(1)))
        self.assertEqual([len([at for at in step if at < 10]) for step in steps], [2, 2, 1])
        self.assertEqual([len([at for at in step if at >= 10]) for step in steps], [2, 2, 3])
        self.assertEqual(sorted(at for step in steps for at in step), [*range(5), *range(10, 17)])
        plain = list(train.grouped(range(5), [], 2, random.Random(1)))
        whole = [[at for at in step if at < 10] for step in steps]
        self.assertEqual(whole, plain, "the same sentences of full text as without the others")


class Network(unittest.TestCase):
    def test_labels_of_negatives_alone_are_smoothed(self):
        logits = torch.tensor([[0.7, 0.2, 0.1], [0.2, 0.2, 0.6]]).log()
        # The frame of the first: -ln .7. NULL of the second: -(.8 ln .6 + .1 ln .2 + .1 ln .2).
        self.assertAlmostEqual(model.loss_of(logits[:1], torch.tensor([0]), 0.2).item(), 0.3567, places=4)
        self.assertAlmostEqual(model.loss_of(logits[1:], torch.tensor([2]), 0.2).item(), 0.7305, places=4)
        self.assertAlmostEqual(model.loss_of(logits, torch.tensor([0, 2]), 0.2).item(), 0.5436, places=4)

    def test_what_is_said_of_a_span_does_not_depend_on_its_company(self):
        sentences = [
            {"words": ["She", "checked", "it", "twice"], "tags": ["PRP", "VBD", "PRP", "RB"], "whole": True, "targets": []},
            {"words": ["Rain", "fell"], "tags": ["NN", "VBD"], "whole": True, "targets": [a_target([1, 1, True], "F")]},
        ]
        torch.manual_seed(1)
        of = a_corpus(sentences, ["F", "G"])
        of.tags = {"PRP": 1, "VBD": 2, "RB": 3, "NN": 4}
        of.rows, of.states = [torch.tensor([1, 2, 0, 1]), torch.tensor([2, 0])], [torch.randn(4, 5), torch.randn(2, 5)]
        network = model.FrameTagger(torch.randn(3, 6), 5, 4, 3, hidden=7, layers=2, dropout=0.5).eval()
        together = network(of.batch([0, 1], [of.learned(0), of.learned(1)]))
        self.assertEqual(together.shape, (9 + 3, 3))
        torch.testing.assert_close(together[9:], network(of.batch([1], [of.learned(1)])))
        only = of.learned(0)[4:5]
        torch.testing.assert_close(together[4:5], network(of.batch([0], [only])))
        self.assertEqual(of.batch([1], [of.learned(1)]).labels.tolist(), [2, 2, 0])

    def test_letters_beyond_ascii_and_long_words_are_read_in_part(self):
        self.assertEqual(corpus.spelling("aé"), [97, 1] + [0] * 14)
        self.assertEqual(corpus.spelling("a" * 40), [97] * 16)


class Measures(unittest.TestCase):
    def found(self):
        """Frames F 0, G 1, NULL 2; of `He checked it` the spans `He`, `checked`, `checked it`, `it`."""
        targets = [
            a_target([1, 1, True], "F"), a_target([2, 1, True], "G", "it.n"), a_target(None, "F"), a_target([0, 1, True], "New", "he.n"),
        ]  # fmt: skip
        sentence = {"words": ["He", "checked", "it"], "targets": targets}
        of = a_corpus([sentence], ["F", "G"], {"checked": ["F"], "it": ["F"], "he": ["F", "G"]})
        scores = torch.tensor([[0.0, 1.0, 3.0], [2.0, 4.0, 1.0], [5.0, 0.0, 4.0], [0.0, 2.0, 1.0]])
        found = Found()
        add(found, of, sentence, [(0, 1), (1, 1), (1, 2), (2, 1)], scores, {("F", "check.v"), ("G", "it.n")})
        return found

    def test_spans_count_when_their_frame_is_right(self):
        # Found: checked G (wrong), checked it F (wrong), it G (right); of four targets.
        self.assertEqual(self.found().spans(0.0), {"precision": 33.33, "recall": 25.0, "f1": 28.57})
        # Margins 3, 1 and 1: a bias of 1 keeps the first.
        self.assertEqual(self.found().spans(1.0), {"precision": 0.0, "recall": 0.0, "f1": 0.0})
        # With the lexicon: checked F (margin 1, right), it F (-1), He G (-2).
        self.assertEqual(self.found().spans(0.0, listed=True), {"precision": 100.0, "recall": 25.0, "f1": 40.0})

    def test_frames_at_gold_spans_count_those_that_cannot_be_right(self):
        figures = self.found().figures(0.0, 0.0)
        self.assertEqual((figures["targets"], figures["accuracy"], figures["accuracy, lexicon"]), (4, 25.0, 25.0))
        self.assertEqual((figures["unseen LUs"], figures["accuracy, unseen LUs"]), (1, 0.0))

    def test_the_bias_is_the_nearest_of_the_best(self):
        # Beyond 0.75 the wrong `checked it` is out with the right `it`; below 0 nothing is gained.
        self.assertEqual(self.found().bias(), 0.0)
        self.assertEqual(self.found().bias(listed=True), 0.0)

    def test_arms_are_compared_over_the_seeds_that_all_have(self):
        results = {
            "plain": {1: {"figures": {"spans": {"f1": 50.0}}}, 2: {"figures": {"spans": {"f1": 52.0}}}, 3: {"figures": {}}},
            "augmented": {1: {"figures": {"spans": {"f1": 53.0}}}, 2: {"figures": {"spans": {"f1": 54.0}}}},
        }
        compared = train.compared(results)
        self.assertEqual(compared["seeds"], [1, 2])
        row = compared["measures"]["spans/f1"]["augmented"]
        # Differences 3 and 2: t = 2.5 / 0.5 = 5 with one degree of freedom, p = 1 - 2 atan(5) / pi.
        self.assertEqual((row["mean"], row["deviation"], row["gain"], row["p"]), (53.5, 0.71, 2.5, 0.1257))


class Resuming(unittest.TestCase):
    def test_a_stopped_training_gives_what_an_unstopped_one_does(self):
        sentences = [
            {"words": ["She", "checked", "it"], "tags": ["A"] * 3, "whole": True, "targets": [a_target([1, 1, True], "F")], "part": part}
            for part in ("train", "train", "dev")
        ]  # fmt: skip
        torch.manual_seed(2)
        of = a_corpus(sentences, ["F", "G"])
        of.tags, of.table = {"A": 1}, torch.randn(4, 6)
        of.rows, of.states = [torch.tensor([1, 2, 0])] * 3, [torch.randn(3, 5)] * 3
        given = dict(hidden=4, depth=1, dropout=0.3, rate=0.01, smoothing=0.2, batch=1, share=100, patience=9, minutes=1e9)
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            runs = [SimpleNamespace(**given, run=Path(directory) / name, epochs=3) for name in ("whole", "stopped")]
            whole = train.Training(of, "plain", 1, runs[0])
            whole.run()
            runs[1].epochs = 1
            train.Training(of, "plain", 1, runs[1]).run()
            runs[1].epochs = 3
            resumed = train.Training(of, "plain", 1, runs[1])
            self.assertEqual(resumed.epoch, 1)
            resumed.run()
            self.assertEqual(resumed.steps, 6)
        for name, tensor in whole.network.state_dict().items():
            torch.testing.assert_close(tensor, resumed.network.state_dict()[name], rtol=0, atol=0)


if __name__ == "__main__":
    unittest.main()
