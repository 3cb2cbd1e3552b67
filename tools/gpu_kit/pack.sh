#!/bin/sh
# Writes the kit that run.sh runs in, one directory that needs no Rust and no network where it is used.
#
#     pack.sh KIT FNSTORE BENCH...
#
# KIT is replaced. FNSTORE is the program; each BENCH is an executable that cargo named, whose hash is cut off its name.
# The language model comes from FNSTORE_MODELS; without it the steps that need it say so. No file is larger than 59 MB.
set -eu
[ $# -ge 3 ] || { echo "usage: pack.sh KIT FNSTORE BENCH..." >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
kit=$1 fnstore=$2
shift 2
most=59000000

rm -rf "$kit"
mkdir -p "$kit/bin" "$kit/share/fnstore" "$kit/data" "$kit/peers" "$kit/models"
kit=$(cd "$kit" && pwd)
objcopy --strip-all "$fnstore" "$kit/bin/fnstore"
for bench; do
	name=$(basename "$bench")
	objcopy --strip-all "$bench" "$kit/bin/${name%-*}"
done
cp "$root/tools/gpu_kit/run.sh" "$kit"
cp -r "$root/models" "$kit/share/fnstore/models"
cp -r "$root/tests/data/mini-framenet" "$kit/data"
cp "$root"/benches/peers/language_model_transformers.py "$root"/benches/peers/language_model_cyllama.py \
	"$root"/benches/peers/gguf_weights.py "$kit/peers"

base=$(ls "${FNSTORE_MODELS:-/nonexistent}"/SmolLM2-135M-Instruct/*.gguf 2>/dev/null || true)
if [ -n "$base" ]; then
	mkdir -p "$kit/models/SmolLM2-135M-Instruct"
	cp "$base" "$kit/models/SmolLM2-135M-Instruct"
else
	echo "no language model in FNSTORE_MODELS (\`make rewriter\` fetches it): the kit skips what needs it" >&2
fi

# What is larger travels in parts, which run.sh joins.
cd "$kit"
find bin models share -type f -size +${most}c | while read -r file; do
	sha256sum "$file" >>SHA256SUMS
	split --bytes=$most --suffix-length=1 --numeric-suffixes=1 "$file" "$file.part"
	rm "$file"
done
du -sh "$kit"
