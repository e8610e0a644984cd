"""The call of zero_grad() is missing: each step adds its gradients to those of all steps before.

Memory does not grow; the training is what suffers.
"""

import torch
from torch import nn

from healthy import make_loader, make_model
from recording import recorded

STEPS, WARM_UP = 8, 4


def main():
    loader = make_loader(4)
    model = make_model()
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    losses = []
    with recorded("grads_never_cleared", STEPS, WARM_UP) as profiler:
        for _ in range((STEPS + WARM_UP) // 4):
            for images, labels in loader:
                loss = loss_function(model(images), labels)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                profiler.step()


if __name__ == "__main__":
    main()
