"""Low-rank adapters: an encoder that stays as it is, and small differences to its weights.

To each matrix of its layers (`D_out` x `D_in`) a product `up @ down` of rank R is added (Hu et al. 2021, LoRA, without
its scale), to each vector a difference of its own; embeddings stay. What is written is these alone, so an encoder that
somebody else trained can be tuned and the tuning given away: NAME.up, NAME.down, NAME.delta (src/engine/nn/adapter.rs).
"""

import torch
from torch.nn.utils import parametrize


class LowRank(torch.nn.Module):
    def __init__(self, weight, rank, difference):
        super().__init__()
        rows, columns = weight.shape
        self.up = torch.nn.Parameter(torch.zeros(rows, rank))
        self.down = torch.nn.Parameter(torch.randn(rank, columns) / columns**0.5)
        if difference is not None:
            # The best start of this rank, its size shared by both factors.
            left, sizes, right = torch.linalg.svd(difference, full_matrices=False)
            roots = sizes[:rank].sqrt()
            self.up.data = left[:, :rank] * roots
            self.down.data = roots[:, None] * right[:rank]

    def forward(self, weight):
        return weight + self.up @ self.down


class Adapter:
    """Freezes a model and adds an adapter to it, which starts from what `tuned`, another model of its shape, differs by."""

    def __init__(self, model, rank, tuned=None):
        self.base = {name: tensor.detach().clone() for name, tensor in model.named_parameters()}
        theirs = dict(tuned.named_parameters()) if tuned else {}
        self.matrices, self.vectors = {}, {}
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        for place, module in list(model.encoder.named_modules()):
            if isinstance(module, torch.nn.Linear):
                name = f"encoder.{place}.weight"
                difference = theirs[name].detach() - module.weight.detach() if tuned else None
                self.matrices[name] = LowRank(module.weight, rank, difference)
                parametrize.register_parametrization(module, "weight", self.matrices[name])
            if isinstance(module, torch.nn.Linear | torch.nn.LayerNorm):
                names = ["bias"] if isinstance(module, torch.nn.Linear) else ["bias", "weight"]
                for name in names:
                    full, vector = f"encoder.{place}.{name}", getattr(module, name)
                    if tuned:
                        vector.data.copy_(theirs[full].detach())
                    self.vectors[full] = vector.requires_grad_()

    def tensors(self):
        """What the adapter is made of, by the names of the encoder's tensors."""
        found = {}
        for name, low in self.matrices.items():
            found |= {f"{name}.up": low.up, f"{name}.down": low.down}
        for name, vector in self.vectors.items():
            found[f"{name}.delta"] = vector - self.base[name].to(vector.device)
        return {name: tensor.detach().cpu().contiguous() for name, tensor in found.items()}
