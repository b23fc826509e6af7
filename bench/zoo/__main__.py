"""Makes models of the zoo: `python3 bench/zoo FOLDER [NAME...]` writes NAME.onnx and NAME.inputs, `--list` names all."""
import importlib
import os
import sys

import graph


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    families = sorted(f[:-3] for f in os.listdir(here) if f.endswith(".py"))
    for family in families:
        if family not in ("graph", "__main__"):
            importlib.import_module(family)
    if sys.argv[1:] == ["--list"]:
        print("\n".join(graph.MODELS))
        return
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name in sys.argv[2:] or graph.MODELS:
        g = graph.Graph(name)
        graph.MODELS[name](g)
        g.save(os.path.join(folder, name + ".onnx"))


if __name__ == "__main__":
    main()
