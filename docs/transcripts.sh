#!/bin/sh
# Writes docs/transcripts/: real commands on FrameNet 1.5 with what they printed.
#
#   docs/transcripts.sh FNSTORE FRAMENET
#
# FNSTORE is the program, FRAMENET the release (a folder or its zip). The queries are chosen so that the
# files hold at most MAX_SENTENCES sentences of FrameNet in all, and the end of the script counts them.
set -eu

[ $# -eq 2 ] || { echo "usage: $0 FNSTORE FRAMENET" >&2; exit 2; }
fnstore=$1
release=$2
[ -e "$release" ] || { echo "$release is not here; nothing to write a transcript of" >&2; exit 2; }

MAX_SENTENCES=20
# The definitions of Verification and of its FEs, which `show` prints, hold this many examples.
DEFINITION_EXAMPLES=6
out=$(dirname "$0")/transcripts
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export FNSTORE_DIR="$work/store"
# The annotation sets whose sentences are printed.
quoted_sets='frame=Verification lu=confirm.v origin=exemplar'
mkdir -p "$out"

notice='# Sentences and annotation below are from FrameNet 1.5 (International Computer Science Institute,
# Berkeley, https://framenet.icsi.berkeley.edu), under CC BY 3.0
# (https://creativecommons.org/licenses/by/3.0/); generated sentences are derived from them.
# Written by `make transcripts`.'

# start NAME: the following commands go into docs/transcripts/NAME.txt.
start() {
    file="$out/$1.txt"
    printf '%s\n' "$notice" >"$file"
}

# run ARGUMENTS...: the command as typed and everything it prints; it must succeed.
run() {
    printf '\n$ fnstore' >>"$file"
    for argument in "$@"; do
        case $argument in
            *[!A-Za-z0-9_./=,:-]*) printf " '%s'" "$argument" >>"$file" ;;
            *) printf ' %s' "$argument" >>"$file" ;;
        esac
    done
    printf '\n' >>"$file"
    "$fnstore" "$@" >>"$file" 2>&1
}

start import
run import "$release"

start query
run query 'frame=Verification' --count-by origin
run query 'frame=Verification' --count-by lu
run query "$quoted_sets" --format table
run query 'trigger=corroborat*' --count-by lu
run query 'lu=verify.v fe=Inspector{gf=Ext pt=NP}' --count-by status
run query 'inherits=Scrutiny pos=v text~"\bnot\b"' --count-by frame

start show
run show frame=Verification
run show lu=verify.v
# One of the sets quoted above.
run show annotation x2190941
run relations Verification --tree --fes
run valence lu=confirm.v --over origin=fulltext
run stats --format table

start expand
run expand frame=Verification --rounds 3 --model paraphrase --beam 30 --candidates 20 --numbers f32
run expand frame=Verification --rounds 3 --model paraphrase --beam 30 --candidates 20 --numbers f32
run query 'frame=Verification origin=generated' --count-by round
run query 'frame=Verification origin=generated' --limit 12 --format table

# Every other sentence of the release that a transcript quotes is one of these.
quoted=$(($("$fnstore" query "$quoted_sets" --count) + DEFINITION_EXAMPLES))
if [ "$quoted" -gt "$MAX_SENTENCES" ]; then
    echo "the transcripts quote $quoted sentences of FrameNet, more than $MAX_SENTENCES" >&2
    exit 1
fi
