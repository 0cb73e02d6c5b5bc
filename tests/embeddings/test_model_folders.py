"""Folders of language models: which matrix, which tokens are words, and every fault by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

import bayesbias as bb
from bayesbias.embeddings import guess_format
from bayesbias.errors import DataError, NotFoundError, SpecError

BERT = "bert.embeddings.word_embeddings.weight"
WORDPIECE = {
    "type": "WordPiece",
    "continuing_subword_prefix": "##",
    "vocab": {"[CLS]": 0, "nurse": 1, "##s": 2, "[unused1]": 3, "naïve": 4},
}
MATRIX = np.arange(1, 16, dtype=np.float32).reshape(5, 3) / 8


def folder(
    path: Path,
    tensors: dict[str, np.ndarray[Any, Any]] | None = None,
    model: dict[str, Any] | None = None,
    special: tuple[int, ...] = (),
) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    save_file({BERT: MATRIX} if tensors is None else tensors, path / "model.safetensors")
    added = [{"id": i, "content": "x", "special": True} for i in special]
    tokenizer = {"added_tokens": added, "model": model or WORDPIECE}
    (path / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    return path


def test_whole_words_of_wordpiece(tmp_path: Path) -> None:
    path = folder(tmp_path / "tiny-bert", special=(0,))
    assert guess_format(path) == "transformer"
    for emb in (bb.Embedding.from_transformer(path), bb.load_embedding(path)):
        assert emb.words == ("nurse", "naïve")
        np.testing.assert_array_equal(emb.vectors, MATRIX[[1, 4]])
        assert emb.name == "tiny-bert"
        assert "2 of 5 tokens are whole words" in emb.notes[0]
        assert "'##'" in emb.notes[0]
    part = bb.load_embedding(path, "mine", words=["Naïve"])
    assert part.words == ("naïve",)
    assert part.ranks.tolist() == [2]
    assert bb.load_embedding(path, limit=1).words == ("nurse",)


def byte_level(text: str) -> str:
    # GPT-2 writes bytes that do not print as characters from 256 on.
    odd = [b for b in range(256) if not (33 <= b <= 126 or 161 <= b <= 172 or b >= 174)]
    return "".join(chr(256 + odd.index(b)) if b in odd else chr(b) for b in text.encode())


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (
            {"type": "BPE", "vocab": {"s": 0, "Ġnurse": 1, "ĠĠ": 2, "Ġ": 3, "ĠnaÃ¯ve": 4}},
            {"nurse": 1, "naïve": 4},
        ),
        ({"type": "BPE", "vocab": {"▁nurse": 2, "s": 0, "<0x0A>": 1, "▁": 3}}, {"nurse": 2}),
        (
            {"type": "Unigram", "vocab": [["<unk>", 0.0], ["▁the", -1.5], ["s", -2], ["▁▁", -3]]},
            {"the": 1},
        ),
        (
            {"type": "BPE", "end_of_word_suffix": "</w>", "vocab": {"nurs": 0, "nurse</w>": 1}},
            {"nurse": 1},
        ),
        ({"type": "WordLevel", "vocab": {"nurse": 3, "New York": 0}}, {"New York": 0, "nurse": 3}),
    ],
)
def test_marks_of_words(tmp_path: Path, model: dict[str, Any], expected: dict[str, int]) -> None:
    emb = bb.load_embedding(folder(tmp_path / "m", {"wte.weight": MATRIX}, model))
    assert emb.words == tuple(expected)
    np.testing.assert_array_equal(emb.vectors, MATRIX[list(expected.values())])


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_byte_level_tokens_are_decoded(word: str) -> None:
    from bayesbias.embeddings.formats.model_folders import _from_bytes

    assert _from_bytes(byte_level(word)) == word


def test_the_character_of_a_space_is_that_of_gpt2() -> None:
    assert byte_level(" ") == "Ġ"
    assert byte_level("\n") == "Ċ"


@pytest.mark.parametrize(
    "name",
    [
        "embeddings.word_embeddings.weight",
        "transformer.wte.weight",
        "model.embed_tokens.weight",
        "shared.weight",
        "embedding.weight",
        "embeddings",
    ],
)
def test_names_of_input_embeddings(tmp_path: Path, name: str) -> None:
    others = {"encoder.layer.0.weight": MATRIX[:2], "lm_head.weight": MATRIX * 2}
    path = folder(tmp_path / "m", {**others, name: MATRIX})
    np.testing.assert_array_equal(bb.load_embedding(path)["nurse"], MATRIX[1])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8])
def test_types_of_numbers(tmp_path: Path, dtype: type[np.generic]) -> None:
    matrix = (MATRIX * 8).astype(dtype)
    emb = bb.load_embedding(folder(tmp_path / "m", {BERT: matrix}))
    np.testing.assert_array_equal(emb.vectors, matrix[[0, 1, 4]])
    assert emb.vectors.dtype == np.float32


def write_raw(path: Path, dtype: str, shape: list[int], data: bytes) -> None:
    header = json.dumps(
        {BERT: {"dtype": dtype, "shape": shape, "data_offsets": [0, len(data)]}}
    ).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + data)


def test_bfloat16(tmp_path: Path) -> None:
    path = folder(tmp_path / "m")
    halves = (MATRIX.view(np.uint32) >> 16).astype("<u2")  # these values fit into 16 bits
    write_raw(path / "model.safetensors", "BF16", [5, 3], halves.tobytes())
    np.testing.assert_array_equal(bb.load_embedding(path).vectors, MATRIX[[0, 1, 4]])
    write_raw(path / "model.safetensors", "F8_E4M3", [5, 3], bytes(15))
    with pytest.raises(DataError, match="F8_E4M3; expected one of .*'BF16'"):
        bb.load_embedding(path)


def sharded(path: Path, files: dict[str, str]) -> Path:
    folder(path)
    (path / "model.safetensors").rename(path / "model-00001-of-00002.safetensors")
    (path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    return path


def test_weights_in_several_files(tmp_path: Path) -> None:
    # The second file is not needed, and need not be there.
    first, second = (f"model-0000{i}-of-00002.safetensors" for i in (1, 2))
    path = sharded(tmp_path / "m", {"lm_head.weight": second, BERT: first})
    np.testing.assert_array_equal(bb.load_embedding(path)["naïve"], MATRIX[4])
    for files, message in (
        ({BERT: second}, f"'{second}', which holds the tensor"),
        ({BERT: "../model.safetensors"}, "not the name of a file in the folder"),
        ({"x.wte.weight": first}, "found no tensor 'x.wte.weight'"),
        ({"other": first}, "found the tensors 'other'; expected"),
    ):
        with pytest.raises((DataError, NotFoundError), match=message):
            bb.load_embedding(sharded(tmp_path / "m", files))


def test_folders_of_sentence_transformers_and_model2vec(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "modules.json").write_text("[]")
    folder(tmp_path / "old" / "0_Transformer", {"embeddings.word_embeddings.weight": MATRIX})
    assert bb.load_embedding(tmp_path / "old").name == "old"
    static = tmp_path / "static"
    folder(static / "0_StaticEmbedding", {"embedding.weight": MATRIX})
    np.testing.assert_array_equal(bb.load_embedding(static)["nurse"], MATRIX[1])
    # Tokens can share rows, and have weights of their own.
    shared = {
        "embeddings": MATRIX[:2],
        "mapping": np.array([0, 1, 0, 0, 1]),
        "weights": np.array([1, 2, 1, 1, 0.5], dtype=np.float64),
    }
    emb = bb.load_embedding(folder(tmp_path / "m2v", shared))
    np.testing.assert_array_equal(emb["nurse"], MATRIX[1] * 2)
    np.testing.assert_array_equal(emb["naïve"], MATRIX[1] / 2)
    folder(tmp_path / "m2v", {**shared, "mapping": np.array([0, 1])})
    with pytest.raises(DataError, match="'mapping' has the shape"):
        bb.load_embedding(tmp_path / "m2v")


def test_a_matrix_of_another_name(tmp_path: Path) -> None:
    path = folder(tmp_path / "m", {"odd": MATRIX, "bias": MATRIX[0]})
    with pytest.raises(DataError, match=r"found the tensors 'bias', 'odd'; expected.*tensor=name"):
        bb.load_embedding(path)
    emb = bb.Embedding.from_transformer(path, "mine", tensor="odd")
    assert emb.name == "mine"
    with pytest.raises(NotFoundError, match="no matrix is called 'bias'; found 'odd'"):
        bb.Embedding.from_transformer(path, tensor="bias")
    two = {"encoder.embed_tokens.weight": MATRIX, "decoder.embed_tokens.weight": MATRIX}
    with pytest.raises(DataError, match="'decoder.embed_tokens.weight', 'encoder.*choose one"):
        bb.load_embedding(folder(path, two))


def test_folders_that_lack_something(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="is a folder; found nothing"):
        bb.load_embedding(tmp_path)
    path = folder(tmp_path / "m")
    (path / "tokenizer.json").unlink()
    with pytest.raises(NotFoundError, match=r"found 'model.safetensors', but no tokenizer.json"):
        bb.load_embedding(path)
    (path / "model.safetensors").rename(path / "pytorch_model.bin")
    with pytest.raises(DataError, match="'pytorch_model.bin', which is a pickle.*AutoModel"):
        bb.load_embedding(path)
    (path / "pytorch_model.bin").rename(path / "modules.json")
    with pytest.raises(NotFoundError, match="found 'modules.json'; expected 'model.safetensors'"):
        bb.load_embedding(path)
    with pytest.raises(NotFoundError, match="not a folder"):
        bb.Embedding.from_transformer(path / "nothing")
    pipeline = tmp_path / "spacy"
    (pipeline / "vocab" / "vectors").mkdir(parents=True)
    with pytest.raises(NotFoundError, match="spaCy pipeline.*from_spacy"):
        bb.load_embedding(pipeline)
    with pytest.raises(SpecError, match="'transformer' is for folders"):
        bb.load_embedding(pipeline, format="glove")


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        ("{", "not valid JSON"),
        ("[1]", "found list"),
        ("{}", "without a vocabulary"),
        ('{"model": {"type": "BPE", "vocab": {"a": "b"}}}', "type 'BPE' without a vocabulary"),
        ('{"model": {"type": "Unigram", "vocab": [1]}}', "without a vocabulary"),
        ('{"model": {"type": "WordLevel", "vocab": {"far": 5}}}', "'far' is row 5.*which has 5"),
        ('{"model": {"type": "WordPiece", "vocab": {"##a": 1}}}', "none of the 1 tokens"),
        ('{"model": {"vocab": {"a": 1}}, "added_tokens": [1]}', "'added_tokens' is damaged"),
    ],
)
def test_damaged_tokenizers(tmp_path: Path, tokenizer: str, message: str) -> None:
    path = folder(tmp_path / "m")
    (path / "tokenizer.json").write_text(tokenizer)
    with pytest.raises(DataError, match=message):
        bb.load_embedding(path)


def test_damaged_weights(tmp_path: Path) -> None:
    path = folder(tmp_path / "m")
    weights = path / "model.safetensors"
    whole = weights.read_bytes()
    for content in (b"", whole[:20], whole[:-1], b"\xff" * 8 + whole[8:]):
        weights.write_bytes(content)
        with pytest.raises(DataError, match="cut short or damaged"):
            bb.load_embedding(path)
    damaged = MATRIX.copy()
    damaged[4, 1] = np.nan
    folder(path, {BERT: damaged})
    with pytest.raises(DataError, match="'naïve'.*NaN"):
        bb.load_embedding(path)
    folder(path, {BERT: MATRIX[:, :0]})
    with pytest.raises(DataError, match="is empty"):
        bb.load_embedding(path)
