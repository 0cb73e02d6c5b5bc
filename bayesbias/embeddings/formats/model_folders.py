"""Folders of language models: the input embeddings of the tokens that are whole words.

Read are transformers (``model.safetensors``, in one piece or in several, with ``tokenizer.json``),
sentence-transformers and model2vec folders. Neither PyTorch nor transformers is needed, and nothing
is unpickled: weights in ``pytorch_model.bin`` are refused.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesbias._core.progress import progress_bar
from bayesbias._core.toml_json import read_json
from bayesbias._core.wording import quoted
from bayesbias.embeddings.formats.streams import Rows, Wanted
from bayesbias.errors import DataError, NotFoundError

_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_TOKENIZER = "tokenizer.json"
#: Where sentence-transformers keeps the first part of a model.
_FIRST_PARTS = ("0_Transformer", "0_StaticEmbedding")
#: How the input embeddings are called; names may have more in front, such as ``bert.``.
INPUT_EMBEDDINGS = (
    "embeddings.word_embeddings.weight",  # BERT, RoBERTa, DistilBERT, ELECTRA
    "embeddings.tok_embeddings.weight",  # ModernBERT
    "shared.weight",  # T5, BART
    "wte.weight",  # GPT-2
    "embed_tokens.weight",  # Llama, Mistral, Qwen, Gemma, OPT
    "embed_in.weight",  # GPT-NeoX
    "word_embeddings.weight",  # BLOOM, Falcon
    "word_embedding.weight",  # XLNet
    "tok_embeddings.weight",
    "token_embedding.weight",  # CLIP
    "embedding.weight",  # static embeddings of sentence-transformers
    "embeddings",  # model2vec
)
_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I8": "i1"}
_INTEGERS = {"I64": "<i8", "I32": "<i4", "U32": "<u4", "I16": "<i2", "U16": "<u2"}
_UNUSED = re.compile(r"\[unused\d+\]")  # places that BERT keeps free, never trained
_LARGEST_JSON = 1 << 28
_BLOCK_ROWS = 8_192


@dataclass(frozen=True, slots=True)
class _Tensor:
    """Where a tensor lies in a file."""

    path: Path
    dtype: str
    shape: tuple[int, ...]
    offset: int

    def mapped(self, dtypes: dict[str, str]) -> npt.NDArray[Any]:
        """Map the values into memory, bfloat16 as the upper halves of float32."""
        kind = dtypes[self.dtype]
        return np.memmap(self.path, dtype=kind, mode="r", offset=self.offset, shape=self.shape)


def is_model_folder(path: Path) -> bool:
    """Return whether a folder looks like that of a language model, complete or not."""
    marks = (_WEIGHTS, _INDEX, _TOKENIZER, "pytorch_model.bin", "modules.json", *_FIRST_PARTS)
    return any((path / mark).exists() for mark in marks)


def read_model_folder(path: Path, wanted: Wanted, *, tensor: str | None = None) -> Rows:
    """Read the input embeddings of the whole-word tokens of a model, in the order of its tokens."""
    folder = _find_part(path)
    tensors = _tensors(folder, tensor)
    name = _find_matrix(folder, tensors, tensor)
    matrix = tensors[name]
    words, tokens, note = _whole_words(folder / _TOKENIZER)
    rows_of_tokens, weights = _token_rows(folder, tensors, name, tokens)
    if len(tokens) and (worst := int(rows_of_tokens.max())) >= matrix.shape[0]:
        word = words[int(rows_of_tokens.argmax())]
        raise DataError(
            f"{folder}: the token {word!r} is row {worst:,} of {name!r}, which has "
            f"{matrix.shape[0]:,}; the tokenizer and the weights do not belong together."
        )
    chosen = wanted.pick(words)
    vectors = np.empty((len(chosen), matrix.shape[1]), dtype=np.float32)
    stored = matrix.mapped(_DTYPES)
    with (
        progress_bar(
            f"Reading {path.name}", total=len(chosen), show=wanted.progress, unit="steps"
        ) as advance,
        np.errstate(over="ignore"),
    ):
        for start in range(0, len(chosen), _BLOCK_ROWS):
            part = chosen[start : start + _BLOCK_ROWS]
            block = stored[rows_of_tokens[part]]
            if matrix.dtype == "BF16":
                block = (block.astype(np.uint32) << 16).view(np.float32)
            if weights is not None:
                block = block * weights[tokens[part], None]
            vectors[start : start + len(part)] = block
            advance(len(part))
    return Rows([words[i] for i in chosen], vectors, [note] if note else [], ranks=chosen + 1)


def _find_part(path: Path) -> Path:
    """Return the folder that holds weights and tokenizer: the folder itself or its first part."""
    candidates = [path, *(path / part for part in _FIRST_PARTS)]
    for folder in candidates:
        if (folder / _WEIGHTS).is_file() or (folder / _INDEX).is_file():
            if (folder / _TOKENIZER).is_file():
                return folder
            raise NotFoundError(
                f"{folder}: found {_listing(folder)}, but no {_TOKENIZER}, which holds the tokens; "
                "write it with AutoTokenizer.from_pretrained(folder).save_pretrained(folder) of "
                "the package transformers."
            )
    pickles = [each for folder in candidates for each in sorted(folder.glob("*.bin"))]
    if pickles:
        raise DataError(
            f"{path}: the weights are in {pickles[0].name!r}, which is a pickle and can run any "
            f"code, so it is not opened; expected {_WEIGHTS!r}. Convert them with "
            "AutoModel.from_pretrained(folder).save_pretrained(folder) of the package transformers."
        )
    raise NotFoundError(
        f"{path} is a folder without the weights of a model: found {_listing(path)}; expected "
        f"{_WEIGHTS!r} or {_INDEX!r}, and {_TOKENIZER!r}."
    )


def _listing(folder: Path) -> str:
    return quoted(sorted(each.name for each in folder.iterdir())) or "nothing"


def _tensors(folder: Path, asked: str | None) -> dict[str, _Tensor]:
    """Return all tensors of a model; only headers are read."""
    index = folder / _INDEX
    if (folder / _WEIGHTS).is_file() or not index.is_file():
        return _read_header(folder / _WEIGHTS)
    files = _read_json(index).get("weight_map")
    if not isinstance(files, dict) or not all(isinstance(file, str) for file in files.values()):
        raise DataError(f"{index}: no 'weight_map' from tensors to files; download it again.")
    tensors: dict[str, _Tensor] = {}
    # Only the files that can hold the input embeddings: a model may be partly downloaded.
    for name, file in files.items():
        if not _is_input(name) and name != asked:
            continue
        if Path(file).name != file or file in ("", ".", ".."):
            raise DataError(f"{index}: {file!r} is not the name of a file in the folder.")
        if not (folder / file).is_file():
            raise NotFoundError(
                f"{folder}: {file!r}, which holds the tensor {name!r}, is not there; download it."
            )
        header = _read_header(folder / file)
        if name not in header:
            raise DataError(
                f"{folder / file}: found no tensor {name!r}, which {_INDEX} promises; download "
                "both again."
            )
        tensors[name] = header[name]
    return tensors or _none_found(folder, files)


def _is_input(name: str) -> bool:
    return any(name == known or name.endswith("." + known) for known in INPUT_EMBEDDINGS)


def _read_header(path: Path) -> dict[str, _Tensor]:
    """Return the tensors of a safetensors file, after its own library has checked the sizes."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy"):
            pass
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(length))
        tensors = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            shape = tuple(int(size) for size in entry["shape"])
            begin, _ = entry["data_offsets"]
            tensors[name] = _Tensor(path, str(entry["dtype"]), shape, 8 + length + int(begin))
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, RecursionError) as err:
        raise DataError(
            f"{path}: the file is cut short or damaged ({err}); download or save it again."
        ) from err
    return tensors


def _find_matrix(folder: Path, tensors: dict[str, _Tensor], asked: str | None) -> str:
    matrices = [name for name, tensor in tensors.items() if len(tensor.shape) == 2]
    if asked is not None:
        if asked not in matrices:
            raise NotFoundError(
                f"{folder}: no matrix is called {asked!r}; found {quoted(sorted(matrices))}."
            )
        found = [asked]
    else:
        found = []
        for known in INPUT_EMBEDDINGS:
            found = [n for n in matrices if n == known or n.endswith("." + known)]
            if found:
                break
    if not found:
        _none_found(folder, tensors)
    if len(found) > 1:
        raise DataError(
            f"{folder}: found the matrices {quoted(sorted(found))}, all of them input embeddings; "
            "choose one: Embedding.from_transformer(folder, tensor=name)."
        )
    matrix = tensors[found[0]]
    if matrix.dtype not in _DTYPES:
        raise DataError(
            f"{matrix.path}: {found[0]!r} is of the type {matrix.dtype}; expected one of "
            f"{quoted(_DTYPES)}. Save the model in float32 or bfloat16."
        )
    if not math.prod(matrix.shape):
        raise DataError(f"{matrix.path}: {found[0]!r} is empty, with the shape {matrix.shape}.")
    return found[0]


def _none_found(folder: Path, names: Iterable[str]) -> Any:
    raise DataError(
        f"{folder}: found the tensors {quoted(sorted(names))}; expected one whose name ends with "
        f"one of {quoted(INPUT_EMBEDDINGS, 20)}. If another matrix holds the input embeddings, "
        "name it: Embedding.from_transformer(folder, tensor=name)."
    )


def _token_rows(
    folder: Path, tensors: dict[str, _Tensor], name: str, tokens: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32] | None]:
    """Return the rows of tokens and, of model2vec, the weights of all tokens.

    In model2vec several tokens can share a row (``mapping``), and have a weight of their own.
    """
    if name != "embeddings":
        return tokens, None
    rows, weights = tokens, None
    highest = int(tokens.max(initial=-1))
    mapping, scale = tensors.get("mapping"), tensors.get("weights")
    for label, tensor, kinds in (("mapping", mapping, _INTEGERS), ("weights", scale, _DTYPES)):
        if tensor is not None and (
            len(tensor.shape) != 1
            or tensor.shape[0] <= highest
            or tensor.dtype not in kinds
            or tensor.dtype == "BF16"
        ):
            raise DataError(
                f"{folder}: {label!r} has the shape {tensor.shape} and the type {tensor.dtype}; "
                f"expected one number for each of {highest + 1:,} tokens."
            )
    if mapping is not None and len(tokens):
        rows = np.asarray(mapping.mapped(_INTEGERS)[tokens], dtype=np.int64)
        if int(rows.min()) < 0:
            raise DataError(f"{folder}: 'mapping' has rows below 0; download the model again.")
    if scale is not None and len(tokens):
        weights = np.asarray(scale.mapped(_DTYPES), dtype=np.float32)
    return rows, weights


# --- tokens


def _whole_words(path: Path) -> tuple[list[str], npt.NDArray[np.int64], str]:
    """Return the tokens that are whole words, without marks, their numbers, and a note."""
    tokenizer = _read_json(path)
    vocabulary = _vocabulary(path, tokenizer.get("model"))
    added = _added_tokens(path, tokenizer)
    mark = _mark(tokenizer["model"], vocabulary)
    words: list[str] = []
    tokens: list[int] = []
    for token, number in sorted(vocabulary.items(), key=lambda item: item[1]):
        if number in added or _UNUSED.fullmatch(token):
            continue
        word = mark.word(token)
        if word is not None and word.strip():
            words.append(word)
            tokens.append(number)
    if not words:
        raise DataError(f"{path}: none of the {len(vocabulary):,} tokens is a whole word.")
    left = len(vocabulary) - len(words)
    note = (
        f"{len(words):,} of {len(vocabulary):,} tokens are whole words ({mark.description}); "
        f"{left:,} pieces of words and special tokens left out"
    )
    return words, np.array(tokens, dtype=np.int64), note if left else ""


@dataclass(frozen=True, slots=True)
class _Mark:
    """How a tokenizer marks where words begin or end."""

    description: str
    start: str = ""
    not_start: str = ""
    end: str = ""
    bytes_as_characters: bool = False

    def word(self, token: str) -> str | None:
        """Return the word that a token stands for, None if it is only a piece of one."""
        if not token.startswith(self.start) or not token.endswith(self.end):
            return None
        if self.not_start and token.startswith(self.not_start):
            return None
        word = token[len(self.start) : len(token) - len(self.end)]
        if self.start and word.startswith(self.start):
            return None  # several spaces
        return _from_bytes(word) if self.bytes_as_characters else word


def _mark(model: dict[str, Any], vocabulary: dict[str, int]) -> _Mark:
    suffix, prefix = model.get("end_of_word_suffix"), model.get("continuing_subword_prefix")
    if model.get("type") == "WordPiece" or (
        "type" not in model and any(token.startswith("##") for token in vocabulary)
    ):
        prefix = prefix if isinstance(prefix, str) and prefix else "##"
        return _Mark(f"those without {prefix!r} in front", not_start=prefix)
    if isinstance(suffix, str) and suffix:
        encoded = all(character in _BYTES for token in vocabulary for character in token)
        return _Mark(f"those with {suffix!r} behind", end=suffix, bytes_as_characters=encoded)
    if isinstance(prefix, str) and prefix:
        return _Mark(f"those without {prefix!r} in front", not_start=prefix)
    counts = {mark: sum(token.startswith(mark) for token in vocabulary) for mark in "Ġ▁"}
    start = max(counts, key=lambda mark: counts[mark])
    if not counts[start] or model.get("type") == "WordLevel":
        return _Mark("none has a mark of pieces")
    return _Mark(f"those with {start!r} in front", start=start, bytes_as_characters=start == "Ġ")


def _byte_characters() -> dict[str, int]:
    """Return the character that stands for each byte in byte-level BPE.

    Bytes that print as they are in Latin-1 stand for themselves, the others for the characters
    from 256 on.
    """
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printed]
    return {chr(byte): byte for byte in printed} | {
        chr(256 + place): byte for place, byte in enumerate(others)
    }


_BYTES = _byte_characters()


def _from_bytes(word: str) -> str | None:
    """Return the text of a byte-level token, None if it is a piece of a character."""
    try:
        return bytes(_BYTES[character] for character in word).decode()
    except (KeyError, UnicodeDecodeError):
        return None


def _vocabulary(path: Path, model: object) -> dict[str, int]:
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    if isinstance(vocabulary, list):  # Unigram: pieces and their scores
        try:
            # If a piece occurs twice, the first one counts.
            pieces = [str(piece) for piece, _ in reversed(vocabulary)]
        except (TypeError, ValueError):
            pieces = []
        last = len(pieces) - 1
        vocabulary = {piece: last - place for place, piece in enumerate(pieces)}
    if (
        not isinstance(vocabulary, dict)
        or not vocabulary
        or not all(type(number) is int and 0 <= number < 1 << 40 for number in vocabulary.values())
    ):
        kind = model.get("type") if isinstance(model, dict) else type(model).__name__
        raise DataError(
            f"{path}: found a tokenizer of the type {kind!r} without a vocabulary; expected "
            "'vocab' with tokens and their numbers, as WordPiece, BPE, Unigram and WordLevel have."
        )
    return vocabulary


def _added_tokens(path: Path, tokenizer: dict[str, Any]) -> set[int]:
    """Return the numbers of special tokens, such as ``[CLS]``."""
    added = tokenizer.get("added_tokens") or []
    try:
        return {int(token["id"]) for token in added if token.get("special")}
    except (TypeError, KeyError, ValueError, AttributeError) as err:
        raise DataError(f"{path}: 'added_tokens' is damaged ({err}); download it again.") from err


def _read_json(path: Path) -> dict[str, Any]:
    content = read_json(path, most_bytes=_LARGEST_JSON)
    if not isinstance(content, dict):
        raise DataError(f"{path}: found {type(content).__name__} of JSON, expected an object.")
    return content
