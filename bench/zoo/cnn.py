"""cnn.py - pictures: classes, objects, masks."""
from graph import model


@model
def shufflenet_v2(g):
    """Half of the channels pass by; a reshape and a transpose shuffle them."""

    def unit(x, c):
        left, right = g.split(x, c // 2, c // 2)
        right = g.relu(g.batchnorm(g.conv(right, c // 2, c // 2, 1, bias=False), c // 2))
        right = g.batchnorm(g.conv(right, c // 2, c // 2, 3, groups=c // 2, bias=False), c // 2)
        right = g.relu(g.batchnorm(g.conv(right, c // 2, c // 2, 1, bias=False), c // 2))
        return left, right

    def down(x, before, after):
        half = after // 2
        left = g.batchnorm(g.conv(x, before, before, 3, 2, groups=before, bias=False), before)
        left = g.relu(g.batchnorm(g.conv(left, before, half, 1, bias=False), half))
        right = g.relu(g.batchnorm(g.conv(x, before, half, 1, bias=False), half))
        right = g.batchnorm(g.conv(right, half, half, 3, 2, groups=half, bias=False), half)
        return left, g.relu(g.batchnorm(g.conv(right, half, half, 1, bias=False), half))

    def shuffled(pair, c, side):
        x = g.reshape(g.concat(*pair), 1, 2, c // 2, side, side)
        return g.reshape(g.transpose(x, 0, 2, 1, 3, 4), 1, c, side, side)

    x = g.relu(g.conv(g.input("image", [1, 3, 224, 224]), 3, 24, 3, 2))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    c, side = 24, 56
    for after, repeats in ((116, 3), (232, 7), (464, 3)):
        side //= 2
        x = shuffled(down(x, c, after), after, side)
        c = after
        for _ in range(repeats):
            x = shuffled(unit(x, c), c, side)
    x = g.relu(g.conv(x, c, 1024, 1))
    g.output(g.linear(g.op("ReduceMean", x, axes=[2, 3], keepdims=0), 1024, 1000))
