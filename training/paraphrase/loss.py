"""Label-smoothed cross-entropy over a vocabulary, computed in slices.

The logits of a batch are the largest thing a step makes: 3,600 positions over 8,000 pieces are 115 MB in 32 bits, and the
usual chain (product, softmax, its gradient) holds several of them. Here a slice of positions is carried through the product,
the loss and both gradients before the next one begins, so that it stays in cache; the gradients wait for `backward`.
"""

import torch

# Positions of a slice. A GPU has no such cache; it would wait between small slices, and has the memory for large ones.
POSITIONS = {"cpu": 256, "cuda": 4096}


class SlicedCrossEntropy(torch.autograd.Function):
    """Mean over positions of the cross-entropy between `hidden @ weight.T + bias` and `targets`, of which
    `smoothing` is spread evenly over the vocabulary (Szegedy et al. 2016, section 7).

    hidden (N, d), weight (V, d), bias (V) without gradient, targets (N) in [0, V). Products are in `numbers`, sums in f32.
    """

    @staticmethod
    def forward(context, hidden, weight, bias, targets, smoothing, numbers):
        states, matrix = hidden.detach().to(numbers), weight.detach().to(numbers)
        count, kinds = len(targets), len(matrix)
        of_hidden = torch.empty_like(states)
        # A matrix that stays as it is needs no gradient.
        learns = weight.requires_grad
        of_weight = torch.zeros(weight.shape if learns else 0, dtype=torch.float32, device=weight.device)
        total = torch.zeros((), dtype=torch.float64, device=hidden.device)
        size = POSITIONS[hidden.device.type]
        for start in range(0, count, size):
            part = slice(start, min(start + size, count))
            logits = (states[part] @ matrix.T).float().add_(bias)
            wanted = targets[part, None]
            gradient = logits.softmax(1)
            # log of the sum of all exponentials, by way of the largest, whose share cannot vanish.
            largest, place = logits.max(1, keepdim=True)
            of_all = largest - gradient.gather(1, place).log()
            chosen = (1 - smoothing) * logits.gather(1, wanted) + smoothing * logits.mean(1, keepdim=True)
            total += (of_all - chosen).sum()
            gradient.sub_(smoothing / kinds)
            gradient.scatter_add_(1, wanted, gradient.new_full(wanted.shape, smoothing - 1))
            gradient = gradient.div_(count).to(numbers)
            of_hidden[part] = gradient @ matrix
            if learns:
                of_weight += gradient.T @ states[part]
        context.save_for_backward(of_hidden.to(hidden.dtype), of_weight.to(weight.dtype))
        return (total / count).float()

    @staticmethod
    def backward(context, scale):
        of_hidden, of_weight = context.saved_tensors
        of_weight = of_weight * scale if context.needs_input_grad[1] else None
        return of_hidden * scale.to(of_hidden.dtype), of_weight, None, None, None, None
