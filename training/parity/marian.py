"""Logits and beam searches of a tiny Marian model; `train`, `logits` and `searches` serve other layouts, too."""

import torch
from transformers import GenerationConfig, MarianConfig, MarianMTModel

import golden
from bert import padded

PAD, EOS = 0, 1
SOURCES = [
    [5, 44, 17, 1],
    [88, 3, 3, 61, 20, 9, 1],
    [12, 1],
    [40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 1],
    [71, 8, 90, 2, 33, 1],
    [29, 60, 6, 77, 77, 54, 19, 80, 1],
]
TARGETS = [
    [30, 7, 55, 1],
    [2, 1],
    [9, 91, 64, 33, 12, 70, 70, 18, 5, 1],
    [47, 46, 1],
    [1],
    [21, 13, 84, 36, 36, 3, 1],
]


def build():
    """The tiny model: kept as it is once written, since training gives other bits elsewhere."""
    directory = golden.ROOT / "marian"
    if not (directory / "model.safetensors").exists():
        # No size is a multiple of 16, and the stacks differ in every number.
        config = MarianConfig(
            vocab_size=95, decoder_vocab_size=95, d_model=40, encoder_layers=2, decoder_layers=3,
            encoder_attention_heads=4, decoder_attention_heads=5, encoder_ffn_dim=56,
            decoder_ffn_dim=72, max_position_embeddings=32, activation_function="swish",
            scale_embedding=True, pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=PAD,
            forced_eos_token_id=None, share_encoder_decoder_embeddings=True, dropout=0.0,
        )
        torch.manual_seed(4)
        model = MarianMTModel(config)
        golden.fill(model, seed=4, spread=1.0)
        train(model)
        bias(model)
        model.generation_config = GenerationConfig(
            decoder_start_token_id=PAD, eos_token_id=EOS, pad_token_id=PAD
        )
        golden.save(model.half(), directory)
    return MarianMTModel.from_pretrained(directory, dtype=torch.float32).eval()


def train(model, steps=1500):
    """A toy language: each source token is dropped at times, else becomes one of three others.

    So outputs have the lengths of sentences, and beams have near ties to decide.
    """
    random = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = 3e-3 * (1 - step / steps)
        sources, targets = [], []
        for _ in range(48):
            length = int(torch.randint(1, 13, (1,), generator=random))
            source = torch.randint(2, 95, (length,), generator=random)
            kept = source[torch.rand(length, generator=random) > 0.2]
            shift = torch.multinomial(torch.tensor([0.5, 0.3, 0.2]), len(kept) + 1, True, generator=random)
            sources.append(source.tolist() + [EOS])
            targets.append((2 + (kept - 2 + 31 * (shift[1:] + 1)) % 93).tolist() + [EOS])
        ids, mask = padded(sources)
        inputs, _ = padded([[start(model)] + target[:-1] for target in targets])
        labels, _ = padded(targets, pad=-100)
        scores = model(input_ids=ids, attention_mask=mask, decoder_input_ids=inputs).logits
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"trained the tiny model: loss {loss.item():.3f}")


def start(model):
    return model.config.decoder_start_token_id


def bias(model):
    """A bias of the logits, which training leaves alone: another number for each token."""
    with torch.no_grad():
        model.final_logits_bias.copy_(((torch.arange(95) * 37) % 64 / 64.0 - 0.5)[None])


def logits(model, name="marian"):
    ids, mask = padded(SOURCES)
    inputs = [[start(model)] + target[:-1] for target in TARGETS]
    with torch.inference_mode():
        scores = model(
            input_ids=ids, attention_mask=mask, decoder_input_ids=padded(inputs)[0]
        ).logits
    cases = [
        {"source": source, "target": target, "logits": golden.rounded(scores[row, : len(target)], 5)}
        for row, (source, target) in enumerate(zip(SOURCES, TARGETS))
    ]
    golden.write(f"{name}/logits.json", "logits of forced targets, one padded batch", cases)


def searches(model, name="marian", beam_sizes=(1, 2, 4, 6)):
    """`generate` with several beam sizes, with and without banned tokens."""
    cases = []
    for beam_size in beam_sizes:
        for source in SOURCES:
            free = search(model, source, beam_size, [[PAD]])
            # Ban the second token of the best output, and a pair that it (or another) contains.
            tokens = free["outputs"][0]["tokens"]
            banned = [[PAD], [tokens[min(1, len(tokens) - 2)]]]
            last = free["outputs"][-1]["tokens"]
            if len(last) > 3:
                banned.append(last[1:3])
            banned = [phrase for phrase in banned if phrase != [EOS]]
            cases += [free, search(model, source, beam_size, banned)]
            if beam_size > 2:
                # Hypotheses that are cut off before they end.
                cases.append(search(model, source, beam_size, [[PAD]], max_new_tokens=3))
    golden.write(f"{name}/beam.json", "generate(num_beams=k, num_return_sequences=k)", cases)


def search(model, source, beam_size, banned, max_new_tokens=16):
    with torch.inference_mode():
        result = model.generate(
            torch.tensor([source]), num_beams=beam_size, num_return_sequences=beam_size,
            bad_words_ids=banned, max_new_tokens=max_new_tokens, length_penalty=1.0,
            early_stopping=False, do_sample=False, return_dict_in_generate=True,
            output_scores=True,
        )
    outputs = []
    for row, sequence in enumerate(result.sequences.tolist()):
        tokens = sequence[1:]  # without the start token
        if EOS in tokens:
            tokens = tokens[: tokens.index(EOS) + 1]
        if beam_size > 1:
            score = result.sequences_scores[row].item()
        else:
            score = greedy_score(model, source, tokens)
        outputs.append({"tokens": tokens, "score": golden.rounded(score)})
    return {
        "source": source, "beam_size": beam_size, "bad_words_ids": banned,
        "max_new_tokens": max_new_tokens, "length_penalty": 1.0, "outputs": outputs,
    }


def greedy_score(model, source, tokens):
    """`generate` returns no score for one beam: the mean log-probability, EOS counted."""
    with torch.inference_mode():
        scores = model(
            input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([[start(model)] + tokens[:-1]])
        ).logits.log_softmax(-1)
    return scores[0].gather(1, torch.tensor(tokens)[:, None]).sum().item() / len(tokens)
