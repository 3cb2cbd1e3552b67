#!/bin/sh
# Measures fnstore on a GPU of this machine, and says whether its shaders are right there.
#
# Needs Linux, a Vulkan driver with its loader, and what every Linux has: no Rust, no network. It runs in a directory that
# pack.sh wrote; docs/reference/gpu.md ("A kit for measuring") says what the steps are.
set -u
export LC_ALL=C

usage() {
	cat <<'TEXT'
usage: run.sh [--device NAME] [--small] [--long] [--only STEP[,STEP...]] [--seconds N] [--out DIR]
       run.sh --list

  --device NAME   part of an adapter's name, or `gpu`, the best (default; with --small: llvmpipe)
  --small         small shapes, for software adapters
  --long          also an expansion of ten rounds, and the peers that this machine has
  --only STEPS    those steps alone; a name ending in - is all steps that begin with it
  --seconds N     no step begins or goes on after so many seconds
  --out DIR       where logs, table.txt and result.json are written (default: results, here)
  --list          the names of the steps
TEXT
}

refuse() {
	echo "run.sh: $1" >&2
	usage >&2
	exit 2
}

kit=$(cd "$(dirname "$0")" && pwd)
device='' small='' long='' only='' seconds='' out=results list='' base=''
while [ $# -gt 0 ]; do
	case $1 in
	--device | --only | --seconds | --out) [ $# -ge 2 ] || refuse "$1 needs a value" ;;
	esac
	case $1 in
	--device) device=$2; shift ;;
	--only) only=$2; shift ;;
	--seconds) seconds=$2; shift ;;
	--out) out=$2; shift ;;
	--small) small=1 ;;
	--long) long=1 ;;
	--list) list=1 ;;
	--help) usage; exit 0 ;;
	*) refuse "there is no option \`$1\`" ;;
	esac
	shift
done
case $seconds in *[!0-9]*) refuse "--seconds takes a number" ;; esac
[ -n "$device" ] || device=$([ -n "$small" ] && echo llvmpipe || echo gpu)
python=${PYTHON:-python3}

# Whether --only asks for a step.
wanted() {
	[ -n "$only" ] || return 0
	for each in $(echo "$only" | tr , ' '); do
		case $each in
		*-) case $1 in "$each"*) return 0 ;; esac ;;
		"$1") return 0 ;;
		esac
	done
	return 1
}

# A text as the inside of a JSON string.
escaped() { tr -d '\000-\010\013-\037\177' | sed 's/\\/\\\\/g; s/"/\\"/g; s/	/ /g'; }

# A file of lines as a JSON list.
lines_of() { escaped <"$1" | awk 'BEGIN { printf "[" } { printf "%s\"%s\"", (NR > 1 ? ", " : ""), $0 } END { printf "]" }'; }

# A file's JSON value if it is whole, a list where each of several lines is one; else null.
value_of() {
	if [ ! -s "$1" ]; then
		echo null
	elif [ "$(wc -l <"$1")" -gt 1 ] && ! grep -qv '^{.*}$' "$1"; then
		awk 'BEGIN { printf "[" } { printf "%s%s", (NR > 1 ? ",\n" : ""), $0 } END { print "]" }' "$1"
	elif head -c 1 "$1" | grep -q '[[{]' && tail -n 1 "$1" | grep -q '[]}][[:space:]]*$'; then
		cat "$1"
	else
		echo null
	fi
}

# What a step's log says in short.
figures_of() {
	case $1 in
	self-test*)
		awk '$2 == "ok" { right++ } $2 == "FAILED" { wrong = wrong " " $1 }
			END { printf "%d kernels right", right; if (wrong) printf "; wrong:%s", wrong; print "" }' "$2"
		;;
	units-*)
		grep '^no matrix units' "$2"
		sed -n '/^variant/,$p' "$2" | sed '1d' | grep .
		;;
	language-* | peer-*) grep 'sentences/s' "$2" | sort -t: -k1,1 -k2,2nr | awk -F: '!seen[$1]++' ;;
	products) grep -E 'GFLOP/s|GB/s|sentences/s|16-bit weights' "$2" ;;
	align) grep -oE '"(device|pairs_per_second|spans_per_second)":("[^"]*"|[0-9.]+)' "$2" ;;
	expand) grep -oE '"(sentences|seconds|sentences_per_second|steps|steps_reused)": [0-9.]+' "$2" ;;
	esac
}

# note NAME RESULT SECONDS LIMIT CODE: what a step came to, in the table and in the record.
note() {
	figures=$out/$1.figures record=$out/$1.json
	: >"$figures"
	if [ -f "$out/$1.txt" ]; then figures_of "$1" "$out/$1.txt" >"$figures" 2>/dev/null; fi
	awk -v name="$1" -v result="$2" -v seconds="$3" '
		NR == 1 { printf "%-24s %-12s %7s  %s\n", name, result, seconds, $0 }
		NR > 1 { printf "%-24s %-12s %7s  %s\n", "", "", "", $0 }
		END { if (NR == 0) printf "%-24s %-12s %7s\n", name, result, seconds }' "$figures" >>"$out/table.txt"
	{
		[ ! -s "$out/steps" ] || echo ,
		printf '{"step": "%s", "result": "%s", "seconds": %s, "limit": %s, "code": %s, "figures": %s, "record": ' \
			"$1" "$(echo "$2" | escaped)" "$3" "$4" "$5" "$(lines_of "$figures")"
		value_of "$record"
		printf '}'
	} >>"$out/steps"
	rm -f "$figures"
}

# step NAME LIMIT COMMAND...: runs a command for at most LIMIT seconds. Whatever comes of it, the next step follows.
step() {
	name=$1 limit=$2
	shift 2
	if [ -n "$list" ]; then echo "$name"; return; fi
	wanted "$name" || return 0
	known=1
	# Shapes are small, but a processor poses as the GPU.
	[ -z "$small" ] || limit=$((limit * 5))
	if [ -n "$seconds" ]; then
		left=$((seconds - $(date +%s) + begun))
		if [ "$left" -lt 2 ]; then note "$name" "no time" 0 0 null; return; fi
		[ "$left" -ge "$limit" ] || limit=$left
	fi
	echo "$name ..." >&2
	rm -f "$out/$name.json"
	begin=$(date +%s)
	timeout -k 5 "$limit" "$@" >"$out/$name.txt" 2>&1 </dev/null
	code=$?
	case $code in
	0) result=ok ;;
	124 | 137) result="time limit" failed=1 ;;
	*) result="failed ($code)" failed=1 ;;
	esac
	note "$name" "$result" $(($(date +%s) - begin)) "$limit" "$code"
}

# skip NAME WHY: a step for which this machine lacks something.
skip() {
	if [ -n "$list" ]; then echo "$1"; return; fi
	wanted "$1" || return 0
	known=1
	note "$1" "skipped: $2" 0 0 null
}

# Whether a file of the kit has this sum.
right() { [ -f "$kit/$2" ] && (cd "$kit" && echo "$1  $2" | sha256sum --check --status); }

# Large files come in parts.
join() {
	[ -f "$kit/SHA256SUMS" ] || return 0
	while read -r sum file; do
		if right "$sum" "$file"; then continue; fi
		cat "$kit/$file".part? >"$kit/$file"
		case $file in bin/*) chmod +x "$kit/$file" ;; esac
		if ! right "$sum" "$file"; then
			echo "run.sh: the parts of $file are damaged or missing: what needs it is skipped" >&2
			rm -f "$kit/$file"
		fi
	done <"$kit/SHA256SUMS"
}

# language NAME LIMIT NUMBERS SOURCES BEAM REPEATS [VARIABLE=VALUE...]
language() {
	name=$1 limit=$2 numbers=$3 sources=$4 beam=$5 repeats=$6
	shift 6
	[ -z "$small" ] || { sources=1 beam=2 repeats=1; }
	if [ -z "$list" ] && [ -z "$base" ]; then skip "$name" "no base model"; return; fi
	step "$name" "$limit" env "FNSTORE_BENCH_GGUF=$base" FNSTORE_BENCH_NUMBERS="$numbers" FNSTORE_BENCH_SOURCES="$sources" \
		FNSTORE_BENCH_BEAM="$beam" FNSTORE_BENCH_REPEATS="$repeats" "$@" "$kit/bin/language_model"
}

units() { step "units-$1" 120 env FNSTORE_BENCH_VARIANTS="$2" FNSTORE_BENCH_JSON="$out/units-$1.json" "$kit/bin/units"; }

# A store of some 200 seeds: the small lexicon has 34, and comes as six releases.
store() {
	for number in $1; do
		"$kit/bin/fnstore" import "$kit/data/mini-framenet" --store "$out/store" --release "mini-$number" || return 1
	done >"$out/import.txt" 2>&1
}

expansion() {
	releases='1 2 3 4 5 6' rounds=10 limit=200 model=rewriter
	[ -z "$small" ] || { releases=1 rounds=1 limit=2 model=paraphrase; }
	[ -n "$base" ] || model=paraphrase
	if [ -z "$list" ] && wanted expand && ! store "$releases"; then
		skip expand "the release in data/ cannot be imported"
		return
	fi
	step expand 300 sh -c '"$1/bin/fnstore" expand origin=exemplar --store "$2/store" --device "$3" --rounds "$4" --limit "$5" \
		--model "$6" --format json >"$2/expand.json"; code=$?; cat "$2/expand.json"; exit $code' \
		expand "$kit" "$out" "$device" "$rounds" "$limit" "$model"
}

# peer NAME MODULES: the language model in another library, where this machine has it.
peer() {
	if [ -n "$list" ]; then echo "peer-$1"; return; fi
	wanted "peer-$1" || return 0
	if [ -z "$base" ]; then skip "peer-$1" "no base model"; return; fi
	if ! "$python" -c "import $2" >/dev/null 2>&1; then skip "peer-$1" "no Python with $2"; return; fi
	counts=32,256
	[ -z "$small" ] || counts=1
	step "peer-$1" 180 "$python" -B "$kit/peers/language_model_$1.py" "$base" --sentences "$counts"
}

steps() {
	step self-test 60 "$kit/bin/fnstore" gpu --device "$device" --format table
	step self-test-checked 60 env FNSTORE_GPU_CHECKS=1 "$kit/bin/fnstore" gpu --device "$device" --format table
	# A process for each kind, so that a driver that takes one down leaves the others.
	units direct P,P1,S,V2,V2b,V2c,V2d
	units staged V0,V3,V4
	units strides V1b
	units model V1
	for numbers in blocks f32; do
		language "language-32-$numbers" 60 $numbers 32 8 3
		language "language-256-$numbers" 60 $numbers 256 8 3
	done
	# Rows of a step: 256, 2,048, and 4,080 with the adapter beside the weights.
	for numbers in blocks f32; do
		profiled() { language "$1" 60 $numbers "$2" "$3" 1 FNSTORE_GPU_PROFILE="$out/$1.json" "$4"; }
		profiled "language-profile-256-$numbers" 32 8 FNSTORE_BENCH_ADAPTER=
		profiled "language-profile-2048-$numbers" 256 8 FNSTORE_BENCH_ADAPTER=
		profiled "language-profile-4080-$numbers" 204 20 "FNSTORE_BENCH_ADAPTER=$kit/share/fnstore/models/rewriter"
	done
	step products 120 "$kit/bin/gpu"
	step align 60 sh -c 'FNSTORE_MODELS="$1/share/fnstore/models" "$1/bin/align" >"$2/align.json"; code=$?; cat "$2/align.json"; exit $code' \
		align "$kit" "$out"
	if [ -n "$long$list" ]; then
		expansion
		peer transformers numpy,torch,transformers
		peer cyllama cyllama
	fi
}

if [ -n "$list" ]; then steps; exit 0; fi
mkdir -p "$out" || exit 2
out=$(cd "$out" && pwd)
rm -rf "$out/store"
: >"$out/table.txt"
: >"$out/steps"
begun=$(date +%s) failed='' known=''
export FNSTORE_DEVICE="$device" FNSTORE_CACHE="$out/cache" FNSTORE_MODELS="$kit/models" FNSTORE_BENCH_HEAD="$kit/share/fnstore/models/aligner"
[ -z "$small" ] || export FNSTORE_BENCH_SMALL=1
join
base=$(ls "$kit"/models/*/*.gguf 2>/dev/null | head -n 1)
steps
[ -n "$known" ] || refuse "no step is named by \`$only\`"
{
	printf '{"kit": 1, "date": "%s", "device": "%s", "small": %s, "seconds": %s,\n"machine": "%s",\n"steps": [\n' \
		"$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(echo "$device" | escaped)" "${small:-0}" $(($(date +%s) - begun)) "$(uname -srm | escaped)"
	cat "$out/steps"
	printf '\n]}\n'
} >"$out/result.json"
rm -f "$out/steps"
cat "$out/table.txt"
echo "the same, with what each step recorded: $out/result.json" >&2
[ -z "$failed" ] || exit 1
