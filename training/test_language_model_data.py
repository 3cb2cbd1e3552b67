"""Laws of the examples that the language model's adapters learn from. `python -m unittest discover training`."""

import json
import lzma
import random
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy

from judge import hidden
from language_model import large, meaning, verifier
from language_model.answers import area
from language_model.changes import Changes, other_number
from language_model.examples import Drawer
from language_model.exchange import Exchanger, shared
from language_model.lexicon import Lexicon
from language_model.neighbours import Neighbours, exchanged_lemmas
from language_model.passage import Question, asked, definition, lemma, listed, marked, most_annotated
from language_model.wordnet import FILES, Forms, WordNet

# Synsets: part of speech, file, words, pointers as sign and the first word of another synset, definition.
SYNSETS = [
    ("n", 3, "animal", "~dog ~cow ~horse ~mutt", "a living thing that moves"),
    ("n", 5, "dog hound", "@animal", "a member of the genus Canis"),
    ("n", 5, "cow", "@animal", "female of domestic cattle"),
    ("n", 5, "horse", "@animal", "solid-hoofed herbivorous quadruped"),
    ("n", 5, "mutt", "@animal", "a dog of mixed breed"),
    ("n", 18, "doctor", "", "someone who practises medicine"),
    ("n", 6, "hospital", "", "a building for the sick"),
    ("v", 40, "buy purchase", "!sell", "obtain for money"),
    ("v", 40, "sell", "!buy", "give for money"),
    ("v", 40, "acquire", "~buy", "come into possession"),
    ("a", 0, "old", "!young", "of long life"),
    ("a", 0, "young", "!old", "of short life"),
    ("r", 2, "slowly", "", "without speed"),
]  # fmt: skip
VERBS = {"buy": ["buys", "bought", "buying", "bought"], "sell": ["sells", "sold", "selling", "sold"],
         "purchase": ["purchases", "purchased", "purchasing", "purchased"],
         "acquire": ["acquires", "acquired", "acquiring", "acquired"]}  # fmt: skip
FEATURES = ["V;3;SG;PRS", "V;PST", "V;V.PTCP;PRS", "V;V.PTCP;PST"]
STOCK = [f"filler{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(400)]


def write_wordnet(directory):
    """WordNet's files for the synsets above; each word's first sense is used always."""
    directory.mkdir()
    offsets = {words.split()[0]: 100 + place for place, (_, _, words, _, _) in enumerate(SYNSETS)}
    pos_of = {words.split()[0]: pos for pos, _, words, _, _ in SYNSETS}
    for pos, name in FILES.items():
        data, index = ["  1 licence\n"], ["  1 licence\n"]
        for place, (of, file, words, pointers, gloss) in enumerate(SYNSETS):
            if of != pos:
                continue
            words, pointers = words.split(), pointers.split()
            listed = " ".join(f"{word} 0" for word in words)
            to = " ".join(f"{one[0]} {offsets[one[1:]]:08} {pos_of[one[1:]]} 0000" for one in pointers)
            data.append(f"{100 + place:08} {file:02} {pos} {len(words):02x} {listed} {len(pointers):03} {to} | {gloss}; \"so\"\n")
            index += [f"{word} {pos} 1 0 1 0 {100 + place:08}\n" for word in words]
        (directory / f"data.{name}").write_text("".join(data), encoding="latin1")
        (directory / f"index.{name}").write_text("".join(index), encoding="latin1")
    (directory / "cntlist.rev").write_text("dog%1:05:00:: 1 20\nbuy%2:40:00:: 1 9\n")


class WithWords(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(kept.cleanup)
        cls.directory = Path(kept.name)
        write_wordnet(cls.directory / "wordnet")
        table = cls.directory / "verbs.tsv.xz"
        with lzma.open(table, "wt", encoding="utf-8") as file:
            for verb, forms in VERBS.items():
                file.writelines(f"{verb}\t{form}\t{feature}\n" for form, feature in zip([*forms, verb], [*FEATURES, "V;NFIN"]))
        words = [word for _, _, words, _, _ in SYNSETS for word in words.split()]
        words += [word + "s" for word in words] + [form for forms in VERBS.values() for form in forms]
        known = list(dict.fromkeys(words)) + STOCK
        # Nothing is alike but buying and selling, and a doctor and a hospital.
        vectors = numpy.random.default_rng(1).normal(size=(len(known), 256))
        for one, other in (("bought", "sold"), ("bought", "purchased"), ("doctor", "hospital")):
            vectors[known.index(other)] = vectors[known.index(one)] + 1.8 * vectors[known.index(other)]
        cls.lexicon = Lexicon(table, known, vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True))
        cls.wordnet = WordNet(cls.directory / "wordnet")
        cls.forms = Forms(table, cls.wordnet)
        cls.neighbours = Neighbours(cls.wordnet, cls.forms, cls.lexicon)


class Words(WithWords):
    def test_missing_files_are_named_with_the_package_that_has_them(self):
        with self.assertRaisesRegex(SystemExit, "no cntlist.rev in .*wordnet-base"):
            WordNet(self.directory / "nowhere")

    def test_words_that_may_stand_for_another_have_its_form(self):
        self.assertIn("purchased", dict(self.neighbours.alike("bought", "VBD")))
        self.assertEqual([form for form, _ in self.neighbours.synonyms("bought", "VBD")], ["purchased"])
        self.assertIn("hounds", dict(self.neighbours.alike("dogs", "NNS")))

    def test_nothing_says_something_else_that_might_say_the_same(self):
        others = self.neighbours.others("dogs", "NNS")
        # A mutt is a dog, as its definition says; a hound has the sense of `dog`.
        self.assertEqual({form for form, _ in others["sibling"]}, {"cows", "horses"})
        self.assertEqual([form for form, _ in self.neighbours.others("bought", "VBD")["antonym"]], ["sold"])
        self.assertTrue(self.neighbours.is_near("buy", "acquire", "v"))

    def test_what_people_wrote_for_each_other_says_nothing_else(self):
        pair = "the cow ran".split(), "the horse ran".split(), ["DT", "NN", "VBD"], [(0, 0), (1, 1), (2, 2)]
        self.assertEqual(exchanged_lemmas([pair], self.forms), frozenset())
        exchanged = exchanged_lemmas([pair, pair], self.forms)
        self.assertEqual(exchanged, {frozenset(("cow", "horse"))})
        others = Neighbours(self.wordnet, self.forms, self.lexicon, exchanged).others("cow", "NN")
        self.assertNotIn("horse", dict(others["sibling"]))
        self.assertIn("dog", dict(others["sibling"]))

    def test_what_keeps_company_but_is_of_another_class_says_something_else(self):
        with unittest.mock.patch.object(self.lexicon, "neighbours", lambda _: ("hospital", "doctor", "purchase")):
            self.assertEqual(self.neighbours.strangers("doctor", "doctor", "n"), {"hospital"})


class Changed(WithWords):
    def change(self, kind, text, tags):
        words = text.split()
        return getattr(Changes(self.neighbours), kind)(words, tags.split(), random.Random(1))

    def test_not_is_put_in_and_taken_out_where_it_denies_the_sentence(self):
        self.assertEqual(self.change("negation", "He will sell it .", "PRP MD VB PRP ."), "He will not sell it .".split())
        self.assertEqual(self.change("negation", "He ca n't sell it .", "PRP MD RB VB PRP ."), "He can sell it .".split())
        for text, tags in (
            ("He has dogs .", "PRP VBZ NNS ."),
            ("Will he sell it ?", "MD PRP VB PRP ."),
            ("He is not only old .", "PRP VBZ RB RB JJ ."),
            ("He will hardly sell it .", "PRP MD RB VB PRP ."),
        ):
            self.assertIsNone(self.change("negation", text, tags), text)

    def test_names_are_exchanged_only_where_different_things_are_said_of_them(self):
        self.assertEqual(self.change("roles", "Ann saw Ben .", "NNP VBD NNP ."), "Ben saw Ann .".split())
        self.assertIsNone(self.change("roles", "Ann and Ben left .", "NNP CC NNP VBD ."))
        self.assertIsNone(self.change("roles", "Ann met Ben .", "NNP VBD NNP ."))

    def test_a_number_becomes_another_one(self):
        rng = random.Random(2)
        for word in ("7", "1", "1984", "250", "two", "million"):
            for _ in range(200):
                other = other_number(word, rng)
                self.assertNotEqual(other, word)
                self.assertFalse(other.isdigit() and int(other) <= 0, (word, other))
        self.assertIsNone(other_number("one", rng))

    def test_a_phrase_ends_with_its_sentence(self):
        self.assertIsNone(self.change("dropped", "Now he sold dogs in London. The dog left .", "RB PRP VBD NNS IN NNP DT NN VBD ."))

    def test_a_phrase_is_dropped_whole(self):
        words = "In the morning , he sold old dogs in London ."
        dropped = " ".join(self.change("dropped", words, "IN DT NN , PRP VBD JJ NNS IN NNP ."))
        self.assertIn(dropped, ("He sold old dogs in London .", "In the morning , he sold old dogs ."))

    def test_a_rewriting_is_wrong_by_one_change_and_no_word_of_it_stands_beside(self):
        drawer = meaning.Drawer(Changes(self.neighbours))
        target, source = "They bought the old dogs slowly .".split(), "They purchased the old hounds slowly .".split()
        tags = "PRP VBD DT JJ NNS RB .".split()
        kinds = set()
        for seed in range(120):
            kind, changed = drawer.wrong(target, tags, random.Random(seed), None, source)
            kinds.add(kind)
            self.assertFalse(set(changed) - set(target) & set(source))
            self.assertLessEqual(sum(one != other for one, other in zip(target, changed)), 1)
        self.assertEqual(kinds - {"stranger"}, {"antonym", "sibling"})


class Mixes(WithWords):
    def test_no_answer_stands_in_more_examples_than_said(self):
        examples = [(n, "The old dog .") for n in range(9)] + [(n, "the old dog.") for n in range(5)] + [(0, "Another.")]
        kept = large.thinned(examples, 4, random.Random(1))
        self.assertEqual(sorted(answer == "Another." for _, answer in kept), [False] * 4 + [True])

    def test_what_is_exchanged_is_avoided_and_the_person_s_word_is_the_answer(self):
        source, target = "Ann bought dogs slowly .".split(), "Slowly , Ann bought dogs .".split()
        tags, links = "RB , NNP VBD NNS .".split(), [(0, 2), (1, 3), (2, 4), (3, 0), (4, 5)]
        places = shared(source, target, tags, links)
        self.assertEqual(places, {1: ("bought", "VBD"), 2: ("dogs", "NNS")})
        drawer = Exchanger(Drawer(self.lexicon), self.neighbours)
        for seed in range(60):
            request, answer = drawer.draw(source, places, target, random.Random(seed))
            self.assertEqual(answer, "Slowly, Ann bought dogs.")
            asked = request.sentence.split()
            new = {"purchased", "acquired", "hounds", "animals"} & set(asked)
            self.assertTrue(new and new <= set(request.avoid), request)
            self.assertFalse({"bought", "dogs"} & set(request.avoid))

    def test_sentences_of_masc_are_read_once_and_held_out_ones_never(self):
        folder = self.directory / "masc"
        folder.mkdir()
        sentence = "The_DT old_JJ dog_NN slept_VBD well_RB ._."
        (folder / "a.txt").write_text(f"{sentence} {sentence} An_DT old_JJ cow_NN slept_VBD well_RB ._. No_DT ._.\n")
        self.assertEqual([words[2] for words, _ in large.masc(folder, set())], ["dog", "cow"])
        self.assertEqual([words[2] for words, _ in large.masc(folder, {"theolddogsleptwell"})], ["cow"])


class Prompts(unittest.TestCase):
    """The strings of the tests of `src/verify/`, and a prompt of the verifier's card."""

    def test_a_definition_is_its_first_words_without_names_and_examples(self):
        text = "An Agent tears [Whole the paper] or [it] up.\n\n[[They]] tore\nMore.\n\nNo"
        self.assertEqual(definition(text), "An Agent tears the paper or it up. More.")
        self.assertEqual(len(definition("word " * 3000).split(" ")), 45)
        self.assertEqual(definition(" \n"), "")

    def test_a_lemma_has_no_part_of_speech_and_no_parentheses(self):
        for name, wanted in (("tear up.v", "tear up"), ("rest (of).n", "rest"), ("a.m..n", "a.m."), ("x", "x")):
            self.assertEqual(lemma(name), wanted)

    def test_a_target_is_marked_with_25_words_on_each_side(self):
        self.assertEqual(marked("They tore it up , he said .", [[5, 9], [13, 15]]), ("They *tore it up* , he said .", "tore it up"))
        self.assertEqual(marked("They tore it up , he said .", [[13, 15], [5, 9]])[1], "tore it up")
        far = f"They tore {'x' * 60} up ."
        self.assertEqual(marked(far, [[5, 9], [71, 73]])[1], "tore")
        sentence, _ = marked(f"{'a ' * 40}tore {'b ' * 12}", [[80, 84]])
        self.assertEqual(sentence, "... " + "a " * 25 + "*tore*" + " b" * 12)
        self.assertIsNone(marked("They tore", []))
        self.assertIsNone(marked("They  tore", [[4, 5]]))

    def test_lemmas_are_listed_by_annotation_without_the_lus_own(self):
        counts = {"rip.v": 3, "Tear.v": 9, "tear (up).v": 1, "cut.v": 3, "cut.n": None}
        units = most_annotated([{"name": name, "claimed_annotated": count} for name, count in counts.items()])
        self.assertEqual(listed(units, "tear.n"), ["cut", "rip"])
        self.assertEqual(listed(units, ""), ["Tear", "cut", "rip", "tear"])
        many = [{"name": f"a{number}.v", "claimed_annotated": 0} for number in range(30)]
        self.assertEqual(len(listed(many, "a0.v")), 10)

    def test_prompts_are_those_of_the_program(self):
        found = marked("She 'd also had time to castigate herself .", [[24, 33]])
        text = "A Communicator communicates a judgment of an Evaluee to an Addressee."
        lines = [
            "Frame: Judgment communication", f"Meaning: {text}", "Words: accuse, blame", "Sentence: She'd also had time to *castigate* herself.",
            "Does *castigate* evoke the frame? Answer:",
        ]  # fmt: skip
        question = Question("evokes")
        prompt = asked(question, "Judgment_communication", text, ["accuse", "blame"], *found)
        self.assertEqual(prompt, "\n".join(lines))
        bare = asked(question, "Judgment_communication", "", [], *found)
        self.assertEqual(bare, "\n".join([lines[0], "Meaning: ", *lines[3:]]))
        same = Question("same_meaning").write(sentence="They left. ", rewriting="They\nwent.")
        self.assertEqual(same, "Sentence: They left.\nRewritten: They went.\nDoes it say the same? Answer:")
        self.assertEqual((question.answers, question.most_tokens), ([" yes", " no"], 255))


class Program:
    """Prints LUs and exemplars of 13 frames with ten LUs each."""

    def run(self, command, *_):
        names = [(f"Frame{frame}", f"verb{frame}{lu}.v") for frame in range(13) for lu in range(10)]
        if command == "lus":
            return [{"frame": frame, "name": name, "id": at, "claimed_annotated": 1} for at, (frame, name) in enumerate(names)]
        return [{"frame": frame, "lu": name, "id": f"x{at}"} for at, (frame, name) in enumerate(names)]


class HiddenUnits(unittest.TestCase):
    def setUp(self):
        self.program = Program()
        plan = {"frames": [{"name": "Frame0", "seeds": [{"name": "verb00.v"}, {"name": "verb01.v"}]}]}
        self.is_hidden = verifier.hiding(self.program, plan)

    def frames(self):
        named = [{"name": f"Frame{frame}", "definition_text": "Something."} for frame in range(13)]
        return verifier.Frames(named, self.program.run("lus"), [], self.is_hidden)

    def record(self, frame, lu, text="They verb it .", origin="exemplar"):
        return {"frame": frame, "lu": lu, "text": text, "targets": [[5, 9]], "origin": origin}

    def test_those_of_the_two_sets_and_of_scratch_frames_but_its_seeds(self):
        exemplars, _, units = hidden.lexicon_of(self.program)
        planned = hidden.plan(units, exemplars, random.Random(hidden.SEED))
        names = {(frame, name) for part in planned.values() for frame, of_frame, _ in part for name in of_frame}
        self.assertEqual(len(names), 2 * 13)
        for unit in self.program.run("lus"):
            frame, name = unit["frame"], unit["name"]
            wanted = name not in ("verb00.v", "verb01.v") if frame == "Frame0" else (frame, name) in names
            self.assertEqual(self.is_hidden(frame, name), wanted, name)

    def test_they_are_neither_learnt_from_nor_shown(self):
        records = [self.record(unit["frame"], unit["name"]) for unit in self.program.run("lus")]
        learned, of_hidden = verifier.parted(records, self.is_hidden, set())
        self.assertEqual(len(learned) + len(of_hidden), len(records))
        self.assertFalse(any(self.is_hidden(record["frame"], record["lu"]) for record in learned))
        frames = self.frames()
        shown = {(frame, lu["name"]) for frame, units in frames.shown.items() for lu in units}
        self.assertFalse(any(self.is_hidden(*unit) for unit in shown))
        self.assertEqual(sum(self.is_hidden(unit["frame"], unit["name"]) for unit in self.program.run("lus")), 130 - len(shown))

    def test_sentences_of_other_documents_are_left_out_wherever_they_stand(self):
        record = self.record("Frame0", "verb00.v", "He could n't go .")
        self.assertEqual(verifier.parted([record], self.is_hidden, {"hecouldntgo"}), ([], []))
        many = [record] * 20
        self.assertEqual(len(verifier.parted(many, self.is_hidden, set())[0]), verifier.MOST_OF_LU)

    def test_a_wrong_frame_is_never_one_that_the_word_may_evoke(self):
        frames = self.frames()
        frames.place([], numpy.zeros((0, 4)))
        frames.related["Frame3"].add("Frame4")
        drawer = verifier.Drawer(frames, Question("evokes"))
        found = {drawer.wrong_frame("Frame3", "verb30.v", random.Random(seed)) for seed in range(300)}
        self.assertFalse(found & {"Frame3", "Frame4"})
        self.assertGreater(len(found), 5)
        examples = list(drawer.learned([self.record("Frame3", "verb30.v")] * 40, random.Random(1)))
        self.assertEqual(sum(is_right for _, is_right in examples), 40)
        self.assertTrue(all("verb30," not in prompt for prompt, is_right in examples if is_right))


class Measured(unittest.TestCase):
    def test_the_area_counts_pairs_in_order_and_ties_half(self):
        self.assertEqual(area([3, 1, 2, 1], [True, True, False, False]), (1 + 1 + 0 + 0.5) / 4)
        self.assertIsNone(area([1, 2], [True, True]))


if __name__ == "__main__":
    unittest.main()
