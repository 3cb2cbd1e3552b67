"""Low-rank adapters (Hu et al. 2021, LoRA) for the matrices of a Llama's layers.

To a matrix W (out x in) that stays as it is, `scale * B @ A` is added: A (rank x in) starts random, B (out x rank) at zero.
Names are those of `transformers` and PEFT, as in `model.layers.3.self_attn.q_proj.lora_A.weight`.
"""

import math

import torch

RANK, SCALE, DROPOUT = 32, 2.0, 0.05
MODULES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


class Product(torch.autograd.Function):
    """`x W^T + (keep * x A^T) B^T` for x (N, in): in place, and without a gradient for W, which stays as it is.

    `keep` (N, rank) has the scale, and zeros where dropout drops; it is a number while nothing is dropped.
    """

    @staticmethod
    def forward(context, states, weight, a, b, keep):
        a, b = a.to(states.dtype), b.to(states.dtype)
        low = (states @ a.T).mul_(keep)
        context.save_for_backward(states, weight, a, b, low, keep)
        return (states @ weight.T).addmm_(low, b.T)

    @staticmethod
    def backward(context, of_result):
        states, weight, a, b, low, keep = context.saved_tensors
        of_low = (of_result @ b).mul_(keep)
        of_states = (of_result @ weight).addmm_(of_low, a)
        return of_states, None, (of_low.T @ states).float(), (of_result.T @ low).float(), None


class Adapted(torch.nn.Module):
    """A linear map without bias and its adapter. What the adapter hands on at its narrowest is dropped out while training:
    dropping what it reads, as is usual, would draw eighteen times as many random numbers."""

    def __init__(self, base, rank, scale, dropout):
        super().__init__()
        self.weight, self.scale, self.dropout = base.weight.requires_grad_(False), scale, dropout
        out, into = base.weight.shape
        device = base.weight.device
        self.A = torch.nn.Parameter(torch.empty(rank, into, dtype=torch.float32, device=device))
        self.B = torch.nn.Parameter(torch.zeros(out, rank, dtype=torch.float32, device=device))
        torch.nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))

    def forward(self, states):
        rows = states.reshape(-1, states.shape[-1]).to(self.weight.dtype)
        keep = rows.new_tensor(self.scale)
        if self.training:
            keep = torch.nn.functional.dropout(keep.expand(len(rows), len(self.A)), self.dropout)
        return Product.apply(rows, self.weight, self.A, self.B, keep).view(*states.shape[:-1], -1)


def adapt(model, rank=RANK, scale=SCALE, dropout=DROPOUT):
    """Freezes a model and adds an adapter to the matrices of its layers. Gives the adapted modules by name."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    adapted = {}
    for name, module in list(model.named_modules()):
        parent, _, own = name.rpartition(".")
        if own in MODULES and isinstance(module, torch.nn.Linear):
            adapted[name] = Adapted(module, rank, scale, dropout)
            setattr(model.get_submodule(parent), own, adapted[name])
    return adapted


def tensors_of(adapted):
    """Copies of an adapter's matrices by name."""
    return {
        f"{name}.lora_{part}.weight": getattr(module, part).detach().cpu().clone()
        for name, module in adapted.items()
        for part in "AB"
    }


def rank_of(tensors):
    """The rank of an adapter's matrices."""
    return next(len(tensor) for name, tensor in tensors.items() if name.endswith("lora_A.weight"))


def put(adapted, tensors):
    """Gives an adapter the values of these matrices."""
    names = {f"{name}.lora_{part}.weight" for name in adapted for part in "AB"}
    if names != set(tensors):
        raise ValueError(f"matrices of another adapter: {sorted(names ^ set(tensors))[:4]} are on one side alone")
    for name, module in adapted.items():
        module.A.data.copy_(tensors[f"{name}.lora_A.weight"])
        module.B.data.copy_(tensors[f"{name}.lora_B.weight"])
