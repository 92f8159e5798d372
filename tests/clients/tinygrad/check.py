"""tinygrad's AMD backend on a simulated machine: what it computes is what its CPU backend does.

    DEV=AMD CC=clang-19 HCQDEV_WAIT_TIMEOUT_MS=300000 simrun --machine gfx1100 python3 check.py

Needs tinygrad 0.14.0 and numpy. AMD_AQL=1 has it use AQL queues instead of PM4, AMD_DISABLE_SDMA=1 no SDMA queues.
"""

import sys

import numpy
from tinygrad import Context, Tensor, nn

TOLERANCE = 1e-5


def values(*shape):
    return numpy.random.RandomState(7).rand(*shape).astype(numpy.float32)


def elementwise():
    a, b = Tensor(values(100, 37)), Tensor(values(37))
    return [(a * 3 + b).exp() - a / (b + 1)]


def reduce():
    a = Tensor(values(64, 129))
    return [a.sum(axis=0) / 64, a.max(axis=1), a.mean()]


def matmul():
    return [Tensor(values(65, 70)) @ Tensor(values(70, 33))]


def softmax():
    return [Tensor(values(64, 64)).softmax()]


def convolution():
    return [Tensor(values(1, 3, 16, 16)).conv2d(Tensor(values(4, 3, 3, 3)), padding=1).relu()]


def training():
    inputs, wanted = Tensor(values(16, 8)), Tensor(values(16, 4))
    weights = [Tensor(values(8, 16) - 0.5), Tensor(values(16, 4) - 0.5)]
    for weight in weights:
        weight.requires_grad = True
    optimizer = nn.optim.SGD(weights, lr=0.1)
    with Context(TRAINING=1):
        for _ in range(2):
            optimizer.zero_grad()
            loss = ((inputs @ weights[0]).relu() @ weights[1] - wanted).square().mean()
            loss.backward()
            optimizer.step()
    return [loss, *weights]


def results(device, work):
    with Context(DEV=device):
        return [tensor.numpy() for tensor in work()]


def main():
    failed = 0
    for work in (elementwise, reduce, matmul, softmax, convolution, training):
        pairs = zip(results("AMD", work), results("CPU", work))
        worst = max(float(numpy.max(numpy.abs(got - expected) / (1 + numpy.abs(expected)))) for got, expected in pairs)
        good = worst <= TOLERANCE
        failed += not good
        print(f"{work.__name__}: {'equal' if good else 'DIFFERS'}, largest difference {worst:.1e}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
