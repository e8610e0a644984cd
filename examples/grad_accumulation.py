"""Healthy gradient accumulation: four small batches add up, then one optimizer step clears them.

Nothing to find: .grad is added to in place between two clears on purpose.
"""

import torch
from torch import nn

from healthy import make_loader, make_model
from recording import recorded

STEPS, WARM_UP, MICRO_STEPS = 12, 4, 4


def main():
    loader = make_loader(4)
    model = make_model()
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    with recorded("grad_accumulation", STEPS, WARM_UP) as profiler:
        for _ in range((STEPS + WARM_UP) // 4):
            for number, (images, labels) in enumerate(loader):
                loss = loss_function(model(images), labels) / MICRO_STEPS
                loss.backward()
                if (number + 1) % MICRO_STEPS == 0:
                    optimizer.step()
                    optimizer.zero_grad(set_to_none=True)
                profiler.step()


if __name__ == "__main__":
    main()
