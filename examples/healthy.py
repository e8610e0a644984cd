"""A small image classifier trained as it should be: nothing to find.

Gradients are dropped before each backward, the loss is kept as a number, validation runs under no_grad.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from recording import recorded

STEPS, WARM_UP = 8, 4


def make_model():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 8 * 8, 10),
    )


def make_loader(batches):
    images = torch.randn(batches * 32, 3, 32, 32)
    labels = torch.randint(0, 10, (batches * 32,))
    return DataLoader(TensorDataset(images, labels), batch_size=32)


def validate(model, loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for images, labels in loader:
            correct += (model(images).argmax(1) == labels).sum().item()
    model.train()
    return correct


def main():
    train_loader, validation_loader = make_loader(4), make_loader(2)
    model = make_model()
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    losses = []
    with recorded("healthy", STEPS, WARM_UP) as profiler:
        for _ in range((STEPS + WARM_UP) // 4):  # epochs of four steps
            for number, (images, labels) in enumerate(train_loader):
                optimizer.zero_grad(set_to_none=True)
                loss = loss_function(model(images), labels)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                if number == 3:
                    validate(model, validation_loader)
                profiler.step()


if __name__ == "__main__":
    main()
