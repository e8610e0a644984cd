"""A leak: the validation loss of every step is kept as a tensor, and with it the whole graph behind it.

Validation runs without no_grad and nobody calls backward() on its loss, so every intermediate result
stays alive as long as the list does. Memory grows by the same amount in every step.
"""

import torch
from torch import nn

from healthy import make_loader, make_model
from recording import recorded

STEPS, WARM_UP = 8, 4


def main():
    train_loader = make_loader(4)
    validation_images, validation_labels = next(iter(make_loader(1)))
    model = make_model()
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    validation_losses = []
    with recorded("leak", STEPS, WARM_UP) as profiler:
        for _ in range((STEPS + WARM_UP) // 4):
            for images, labels in train_loader:
                optimizer.zero_grad(set_to_none=True)
                loss = loss_function(model(images), labels)
                loss.backward()
                optimizer.step()
                # The mistake: .item() is missing, and so is torch.no_grad().
                validation_losses.append(loss_function(model(validation_images), validation_labels))
                profiler.step()


if __name__ == "__main__":
    main()
