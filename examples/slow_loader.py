"""The data loader is slow: with num_workers=0 the training thread itself unpacks and augments each image."""

import zlib

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from healthy import make_model
from recording import recorded

STEPS, WARM_UP = 8, 4


class PackedImages(Dataset):
    """Images of 1024 x 1024 kept compressed in memory; unpacking and shrinking one takes milliseconds."""

    def __init__(self, count):
        random = numpy.random.default_rng(0)
        smooth = random.integers(0, 64, (count, 3, 64, 64), dtype=numpy.uint8)
        self.packed = [zlib.compress(image.repeat(16, 1).repeat(16, 2).tobytes()) for image in smooth]

    def __len__(self):
        return len(self.packed)

    def __getitem__(self, index):
        image = numpy.frombuffer(zlib.decompress(self.packed[index]), numpy.uint8).reshape(3, 1024, 1024)
        small = image.reshape(3, 32, 32, 32, 32).mean((2, 4), dtype=numpy.float32) / 255
        if index % 2:
            small = small[:, :, ::-1].copy()
        return torch.from_numpy(small), index % 10


def main():
    loader = DataLoader(PackedImages(64), batch_size=16, num_workers=0)
    model = make_model()
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    with recorded("slow_loader", STEPS, WARM_UP) as profiler:
        for _ in range((STEPS + WARM_UP) // 4):
            for images, labels in loader:
                optimizer.zero_grad(set_to_none=True)
                loss = loss_function(model(images), labels)
                loss.backward()
                optimizer.step()
                profiler.step()


if __name__ == "__main__":
    main()
