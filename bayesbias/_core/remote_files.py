"""The files that can be downloaded by name.

Hashes are those of the files themselves: published by others who pin the same addresses, or
computed from a copy. Where none is known there is none, and the first download is recorded.
"""

from __future__ import annotations

from bayesbias._core.downloads import RemoteFile

_GLOVE = "Pennington, Socher, Manning (2014), https://nlp.stanford.edu/projects/glove/"
_FASTTEXT = "Mikolov, Grave, Bojanowski, Puhrsch, Joulin (2018), https://fasttext.cc"
_THESIS = "Dobrzeniecka, Urbaniak (2024), doi:10.1162/coli_a_00507"
# The repository of the thesis, which states no licence, and that of the paper, which has one.
_EARLIER = "rfl-urbaniak/BayesBias"
_LATER = "efemeryds/Bayesian-analysis-for-NLP-bias"
_LICENCES = {_EARLIER: "none stated; the authors' later repository is MIT", _LATER: "MIT"}

# The archives of GloVe: the name, the sizes in it, and its hash.
_GLOVE_ARCHIVES = (
    (
        "glove.6B",
        (100, 200, 300),  # 50 comes as a package
        "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb",
    ),
    (
        "glove.twitter.27B",
        (25, 50, 100, 200),
        "792af52f795d1a32c9842a3240f5f3fe5e941a8ff6df5eb0f9d668092ebc019c",
    ),
    (
        "glove.42B.300d",
        (),
        "03d5d7fa28e58762ace4b85fb71fe86a345ef0b5ff39f5390c14869da0fc1970",
    ),
    (
        "glove.840B.300d",
        (),
        "c06db255e65095393609f19a4cfca20bf3a71e20cc53e892aafa490347e3849f",
    ),
)
# Languages whose vectors of fastText have a name: English, and those that there are lists in.
_CRAWLED = ("en", "de", "es", "fr", "hr", "it", "ru", "tr")
# Judgements of similarity that Faruqui & Dyer (2014) distribute in one format: our name, their
# file, and who published them.
_GATHERED = (
    ("wordsim_353_similarity", "EN-WS-353-SIM", "Agirre et al. (2009), aclanthology.org/N09-1003"),
    ("wordsim_353_relatedness", "EN-WS-353-REL", "Agirre et al. (2009), aclanthology.org/N09-1003"),
    ("rare_words", "EN-RW-STANFORD", "Luong, Socher, Manning (2013), aclanthology.org/W13-3512"),
    ("simverb_3500", "EN-SimVerb-3500", "Gerz et al. (2016), doi:10.18653/v1/D16-1235"),
    ("mturk_287", "EN-MTurk-287", "Radinsky et al. (2011), WWW 2011, 337–346"),
    ("mturk_771", "EN-MTurk-771", "Halawi et al. (2012), KDD 2012, 1406–1414"),
    ("yp_130", "EN-YP-130", "Yang, Powers (2006), verb similarity on the taxonomy of WordNet"),
    ("verb_143", "EN-VERB-143", "Baker, Reichart, Korhonen (2014), doi:10.3115/v1/D14-1034"),
)
# The tables of the original authors: our name; commit and path of theirs; the hash.
_AUTHORS_TABLES = (
    (
        "religion-reddit",
        "8782c0a8dd1c377760f6625f8c6e53a5d0ec3c79/datasets/religionReddit.csv",
        "d84dc76396c3d63ec7513472e3162fbf69b6abd88b8e4b6389aa579256cc9b03",
    ),
    (
        "religion-google",
        "d7d873f553a9f414edb63061f40234dce0920642/datasets/religionGoogle.csv",
        "ed8c8a63b505bf4eaf23c0ec3dc306b634cac64c54820b6b176bd6e1d5117776",
    ),
    (
        "religion-reddit-debiased",
        "8782c0a8dd1c377760f6625f8c6e53a5d0ec3c79/datasets/debiasedReligionReddit.csv",
        "fbba95ab86e322e6b36801f9e588ec880a73c8791998163b90aae57e33da31eb",
    ),
    ("gender-reddit", "d7d873f553a9f414edb63061f40234dce0920642/datasets/genderReddit.csv", None),
    ("gender-google", "8782c0a8dd1c377760f6625f8c6e53a5d0ec3c79/datasets/genderGoogle.csv", None),
    (
        "gender-reddit-debiased",
        "d7d873f553a9f414edb63061f40234dce0920642/datasets/debiasedGenderReddit.csv",
        None,
    ),
    ("race-reddit", "8782c0a8dd1c377760f6625f8c6e53a5d0ec3c79/datasets/raceReddit.csv", None),
    ("race-google", "d7d873f553a9f414edb63061f40234dce0920642/datasets/raceGoogle.csv", None),
    (
        "race-reddit-debiased",
        "8782c0a8dd1c377760f6625f8c6e53a5d0ec3c79/datasets/debiasedRaceReddit.csv",
        None,
    ),
    ("control-reddit", "d7d873f553a9f414edb63061f40234dce0920642/datasets/controlReddit.csv", None),
    ("control-google", "8782c0a8dd1c377760f6625f8c6e53a5d0ec3c79/datasets/controlGoogle.csv", None),
    (
        "religion-glove-2024",
        "8782c0a8dd1c377760f6625f8c6e53a5d0ec3c79/datasets/macWeatDatasets/"
        "religion_group_glove_dataset.csv",
        "3486c791014c90dc931bbad4f01a10d93688d1a1a2e11ba0e299443d6e03ee8e",
    ),
    (
        "religion-reddit-2024",
        "8782c0a8dd1c377760f6625f8c6e53a5d0ec3c79/datasets/macWeatDatasets/"
        "religion_group_reddit_dataset.csv",
        "451e89090acaf36d49ff7a78c6f63a2f21e733fdfe37ae7766267a8f82a5dfd5",
    ),
    (
        "religion-google-2024",
        "ea8e8e9c04ccf2a35aef35f5bee26db1fde2872d/datasets/new_data_05_2022/MAC/"
        "religion_group_google_dataset.csv",
        "a2be3b4e8b1f50125669c91b1a3eaefd28111693b57d6151760123ce6f11d52d",
    ),
    (
        "religion-reddit-debiased-2024",
        "920f5db6fb396137fbbe1fa9ffeaac1689c96a25/datasets/macWeatDatasets/"
        "debiased_religion_reddit.csv",
        None,
    ),
    (
        "gender-reddit-debiased-2024",
        "920f5db6fb396137fbbe1fa9ffeaac1689c96a25/datasets/macWeatDatasets/"
        "debiased_gender_reddit.csv",
        None,
    ),
    (
        "race-reddit-debiased-2024",
        "920f5db6fb396137fbbe1fa9ffeaac1689c96a25/datasets/macWeatDatasets/"
        "debiased_race_reddit.csv",
        None,
    ),
)


def _glove() -> list[RemoteFile]:
    files = []
    for archive, sizes, digest in _GLOVE_ARCHIVES:
        names = {f"{archive}.{size}d": f"{archive}.{size}d.txt" for size in sizes}
        for name, member in (names or {archive: f"{archive}.txt"}).items():
            files.append(
                RemoteFile(
                    name.replace(".", "-").lower(),
                    "embedding",
                    f"{archive}.zip",
                    (f"https://nlp.stanford.edu/data/{archive}.zip",),
                    "PDDL 1.0 (public domain)",
                    _GLOVE,
                    digest,
                    member,
                )
            )
    return files


def _other_embeddings() -> list[RemoteFile]:
    fasttext = "https://dl.fbaipublicfiles.com/fasttext"
    return [
        RemoteFile(
            "google-news-300d",
            "embedding",
            "GoogleNews-vectors-negative300.bin.gz",
            ("https://s3.amazonaws.com/dl4j-distribution/GoogleNews-vectors-negative300.bin.gz",),
            "none stated",
            "Mikolov, Sutskever, Chen, Corrado, Dean (2013), https://code.google.com/p/word2vec",
            "21c05ae916a67a4da59b1d006903355cced7de7da1e42bff9f0504198c748da8",
        ),
        RemoteFile(
            "fasttext-wiki-news-300d",
            "embedding",
            "wiki-news-300d-1M.vec.zip",
            (f"{fasttext}/vectors-english/wiki-news-300d-1M.vec.zip",),
            "CC BY-SA 3.0",
            _FASTTEXT,
            "bdeb85f44892c505953e3654183e9cb0d792ee51be0992460593e27198d746f8",
            "wiki-news-300d-1M.vec",
        ),
        RemoteFile(
            "fasttext-crawl-300d",
            "embedding",
            "crawl-300d-2M.vec.zip",
            (f"{fasttext}/vectors-english/crawl-300d-2M.vec.zip",),
            "CC BY-SA 3.0",
            _FASTTEXT,
            "5bfffffbabdab299d4c9165c47275e8f982807a6eaca37ee1f71d3a79ddb544d",
            "crawl-300d-2M.vec",
        ),
        *(
            RemoteFile(
                f"fasttext-cc-{language}-300d",
                "embedding",
                f"cc.{language}.300.vec.gz",
                (f"{fasttext}/vectors-crawl/cc.{language}.300.vec.gz",),
                "CC BY-SA 3.0",
                "Grave, Bojanowski, Gupta, Joulin, Mikolov (2018), https://fasttext.cc",
            )
            for language in _CRAWLED
        ),
        RemoteFile(
            "numberbatch-en-19.08",
            "embedding",
            "numberbatch-en-19.08.txt.gz",
            (
                "https://conceptnet.s3.amazonaws.com/downloads/2019/numberbatch/"
                "numberbatch-en-19.08.txt.gz",
            ),
            "CC BY-SA 4.0",
            "Speer, Chin, Havasi (2017), https://github.com/commonsense/conceptnet-numberbatch",
        ),
    ]


def _tables() -> list[RemoteFile]:
    files = []
    for name, path, digest in _AUTHORS_TABLES:
        repository = _LATER if name.endswith("debiased-2024") else _EARLIER
        files.append(
            RemoteFile(
                name,
                "table",
                f"{name}.csv",
                (f"https://raw.githubusercontent.com/{repository}/{path}",),
                _LICENCES[repository],
                f"{_THESIS}, https://github.com/{repository}",
                digest,
            )
        )
    return files


def _gathered() -> list[RemoteFile]:
    folder = "https://raw.githubusercontent.com/mfaruqui/eval-word-vectors/master/data/word-sim"
    return [
        RemoteFile(
            name,
            "similarity",
            f"{file}.txt",
            (f"{folder}/{file}.txt",),
            "see the source",
            f"{source}; as distributed by Faruqui, Dyer (2014), doi:10.3115/v1/P14-5004",
        )
        for name, file, source in _GATHERED
    ]


def _benchmarks() -> list[RemoteFile]:
    return [
        *_gathered(),
        RemoteFile(
            "wordsim_353",
            "similarity",
            "wordsim353.zip",
            ("https://gabrilovich.com/resources/data/wordsim353/wordsim353.zip",),
            "CC BY 4.0",
            "Finkelstein et al. (2002), doi:10.1145/503104.503110",
            member="combined.csv",
        ),
        RemoteFile(
            "simlex_999",
            "similarity",
            "SimLex-999.zip",
            ("https://fh295.github.io/SimLex-999.zip",),
            "see the source",
            "Hill, Reichart, Korhonen (2015), doi:10.1162/COLI_a_00237",
            member="SimLex-999/SimLex-999.txt",
        ),
        RemoteFile(
            "men",
            "similarity",
            "MEN.zip",
            ("https://staff.fnwi.uva.nl/e.bruni/resources/MEN.zip",),
            "see the source",
            "Bruni, Tran, Baroni (2014), doi:10.1613/jair.4135",
            member="MEN/MEN_dataset_natural_form_full",
        ),
        RemoteFile(
            "google_analogies",
            "analogies",
            "questions-words.txt",
            ("https://download.tensorflow.org/data/questions-words.txt",),
            "Apache 2.0",
            "Mikolov, Chen, Corrado, Dean (2013), arXiv:1301.3781",
            "8c29b3332afc46f3fb8be04cb5297bf96f39aa7131272dff57869b4485b22a36",
        ),
        RemoteFile(
            "bats",
            "analogies",
            "BATS_3.0.zip",
            ("https://vecto-data.s3-us-west-1.amazonaws.com/BATS_3.0.zip",),
            "see the source",
            "Gladkova, Drozd, Matsuoka (2016), doi:10.18653/v1/N16-2002",
        ),
    ]


#: The files by their names.
REMOTE_FILES = {
    each.name: each for each in (*_glove(), *_other_embeddings(), *_tables(), *_benchmarks())
}


def remote_names(kind: str) -> tuple[str, ...]:
    """Return the names of the files of a kind."""
    return tuple(name for name, each in REMOTE_FILES.items() if each.kind == kind)
