#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the problem of muster-train (muster-train(1), "The problem") with PyTorch: the same weights,
tokens, model and optimizer. Prints one line of JSON: losses, seconds and the gradient norm of each
tensor at the first step. Status 77 if PyTorch is not installed."""

import argparse
import json
import math
import os
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
for name, default in (("layers", 12), ("heads", 12), ("channels", 768), ("context", 64),
                      ("vocab", 50257), ("batch", 4), ("steps", 5), ("threads", 1),
                      ("seed-weights", 1337), ("seed-data", 42)):
    parser.add_argument("--" + name, type=int, default=default)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32",
                    help="bf16: by autocast")
found = parser.parse_args()
os.environ["OMP_NUM_THREADS"] = str(found.threads)

try:
    import numpy
    import torch
    from torch.nn import functional
except ImportError as missing:
    print(f"{parser.prog}: {missing} (Debian package python3-torch)", file=sys.stderr)
    sys.exit(77)


def splitmix(seed, first, count):
    """Numbers first ... first + count - 1 of SplitMix64."""
    with numpy.errstate(over="ignore"):
        index = numpy.arange(first + 1, first + count + 1, dtype=numpy.uint64)
        z = numpy.uint64(seed) + index * numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        return z ^ (z >> numpy.uint64(31))


def draw_weights():
    """{name: a tensor, or a list with one tensor for each layer}."""
    layers, width = found.layers, found.channels
    half = 0.0346410161513775
    residual = half / math.sqrt(2 * layers)
    # in the order in which they are drawn; vectors are filled with the value, and draw nothing
    kinds = [("wte", (found.vocab, width), half), ("wpe", (found.context, width), half),
             ("ln1w", (width,), 1), ("ln1b", (width,), 0),
             ("qkvw", (3 * width, width), half), ("qkvb", (3 * width,), 0),
             ("attprojw", (width, width), residual), ("attprojb", (width,), 0),
             ("ln2w", (width,), 1), ("ln2b", (width,), 0),
             ("fcw", (4 * width, width), half), ("fcb", (4 * width,), 0),
             ("fcprojw", (width, 4 * width), residual), ("fcprojb", (width,), 0),
             ("lnfw", (width,), 1), ("lnfb", (width,), 0)]
    weights, drawn = {}, 0
    for name, shape, value in kinds:
        is_stacked = name not in ("wte", "wpe", "lnfw", "lnfb")
        tensors = []
        for _ in range(layers if is_stacked else 1):
            if len(shape) == 1:
                numbers = numpy.full(shape, value, dtype=numpy.float32)
            else:
                count = shape[0] * shape[1]
                u = splitmix(found.seed_weights, drawn, count) >> numpy.uint64(40)
                numbers = ((u.astype(numpy.float64) / 2**24 - 0.5) * 2 * value).astype(
                    numpy.float32).reshape(shape)
                drawn += count
            tensors.append(torch.nn.Parameter(torch.from_numpy(numbers)))
        weights[name] = tensors if is_stacked else tensors[0]
    return weights


def attend(qkv, mask):
    batch, tokens, _ = qkv.shape
    q, k, v = (part.view(batch, tokens, found.heads, -1).transpose(1, 2)
               for part in qkv.split(found.channels, dim=2))
    scores = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(q.size(-1)))
    scores = scores.masked_fill(mask, float("-inf"))
    return (functional.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(
        batch, tokens, found.channels)


def loss_of(weights, inputs, targets, mask):
    shape = (found.channels,)
    x = functional.embedding(inputs, weights["wte"]) + weights["wpe"][:found.context]
    for layer in range(found.layers):
        at = {name: tensors[layer] for name, tensors in weights.items()
              if isinstance(tensors, list)}
        normed = functional.layer_norm(x, shape, at["ln1w"], at["ln1b"], 1e-5)
        qkv = functional.linear(normed, at["qkvw"], at["qkvb"])
        x = x + functional.linear(attend(qkv, mask), at["attprojw"], at["attprojb"])
        normed = functional.layer_norm(x, shape, at["ln2w"], at["ln2b"], 1e-5)
        hidden = functional.gelu(functional.linear(normed, at["fcw"], at["fcb"]),
                                 approximate="tanh")
        x = x + functional.linear(hidden, at["fcprojw"], at["fcprojb"])
    x = functional.layer_norm(x, shape, weights["lnfw"], weights["lnfb"], 1e-5)
    logits = functional.linear(x, weights["wte"])
    return functional.cross_entropy(logits.float().view(-1, found.vocab), targets.view(-1))


def norm_of(tensors):
    tensors = tensors if isinstance(tensors, list) else [tensors]
    return math.sqrt(sum(float(one.grad.double().square().sum()) for one in tensors))


torch.set_num_threads(found.threads)
rows = found.batch * found.context
tokens = torch.from_numpy((splitmix(found.seed_data, 0, rows + 1) % numpy.uint64(
    found.vocab)).astype(numpy.int64))
inputs = tokens[:rows].view(found.batch, found.context)
targets = tokens[1:].view(found.batch, found.context)
weights = draw_weights()
flat = [one for tensors in weights.values()
        for one in (tensors if isinstance(tensors, list) else [tensors])]
optimizer = torch.optim.AdamW(flat, lr=found.lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
mask = torch.ones(found.context, found.context, dtype=torch.bool).triu(1)
losses, seconds, norms = [], [], {}
for step in range(found.steps):
    begin = time.monotonic()
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=found.precision == "bf16"):
        loss = loss_of(weights, inputs, targets, mask)
    loss.backward()
    if step == 0:
        norms = {name: norm_of(tensors) for name, tensors in weights.items()}
    optimizer.step()
    losses.append(float(loss))
    seconds.append(time.monotonic() - begin)
print(json.dumps({"torch": torch.__version__, "losses": losses, "seconds": seconds,
                  "gradient_norms": norms}))
