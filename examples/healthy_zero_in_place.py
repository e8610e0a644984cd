"""Healthy training whose gradients are set to zero in place, so that every backward adds to them in place.

Nothing to find: a rule that judges by "AccumulateGrad adds in place" alone would be wrong here.
"""

import torch
from torch import nn

from healthy import make_loader, make_model
from recording import recorded

STEPS, WARM_UP = 6, 3


def main():
    loader = make_loader(3)
    model = make_model()
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    with recorded("healthy_zero_in_place", STEPS, WARM_UP) as profiler:
        for _ in range((STEPS + WARM_UP) // 3):
            running_loss = 0.0
            for images, labels in loader:
                optimizer.zero_grad(set_to_none=False)
                loss = loss_function(model(images), labels)
                loss.backward()
                optimizer.step()
                running_loss += loss.item()
                profiler.step()


if __name__ == "__main__":
    main()
