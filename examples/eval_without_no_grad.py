"""Validation without no_grad: the forward pass records a graph that no backward pass ever uses.

Only numbers are kept, so each graph dies at once: memory does not grow, validation only needs more of it.
"""

import torch
from torch import nn

from healthy import make_loader, make_model
from recording import recorded

STEPS, WARM_UP = 8, 4


def validate(model, loader):
    model.eval()
    correct = 0
    for images, labels in loader:  # the mistake: torch.no_grad() is missing
        correct += (model(images).argmax(1) == labels).sum().item()
    model.train()
    return correct


def main():
    train_loader, validation_loader = make_loader(4), make_loader(1)
    model = make_model()
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    with recorded("eval_without_no_grad", STEPS, WARM_UP) as profiler:
        for _ in range((STEPS + WARM_UP) // 4):
            for images, labels in train_loader:
                optimizer.zero_grad(set_to_none=True)
                loss = loss_function(model(images), labels)
                loss.backward()
                optimizer.step()
                validate(model, validation_loader)
                profiler.step()


if __name__ == "__main__":
    main()
