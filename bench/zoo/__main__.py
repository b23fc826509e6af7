"""Makes models of the zoo: `python3 bench/zoo FOLDER [NAME...]` writes NAME.onnx and NAME.inputs, `--list` prints all
names, each with its file."""
import importlib
import os
import sys

import graph


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    families = sorted(f[:-3] for f in os.listdir(here) if f.endswith(".py"))
    source = {}
    for family in families:
        if family not in ("graph", "__main__"):
            importlib.import_module(family)
            source.update((name, family) for name in graph.MODELS if name not in source)
    if sys.argv[1:] == ["--list"]:
        print("\n".join("%s %s.py" % pair for pair in source.items()))
        return
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name in sys.argv[2:] or graph.MODELS:
        g = graph.Graph(name)
        graph.MODELS[name](g)
        g.save(os.path.join(folder, name + ".onnx"))


if __name__ == "__main__":
    main()
