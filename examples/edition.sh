#!/bin/sh
# An edition with a promised precision, from a release to a data set. Each run goes on where the last one ended: between
# two of them people judge what the promise asks for.
#
#     FRAMENET=fndata-1.5.zip FNSTORE_DIR=edition/store sh examples/edition.sh
set -eu
: "${FNSTORE:=fnstore}" "${FRAMENET:?the release, as fndata-1.5.zip}" "${FNSTORE_DIR:?where the store is}"
: "${NAME:=right}" "${PRECISION:=0.9}" "${OUT:=$NAME}"
# So many frames, those with most full-text sets, and so many sets of each.
: "${FRAMES:=60}" "${SETS:=10}" "${ROUNDS:=1}"
export FNSTORE_DIR

[ -f "$FNSTORE_DIR/db/CURRENT" ] || "$FNSTORE" import "$FRAMENET"

frames=$("$FNSTORE" query origin=fulltext --count-by frame --format tsv | sed 1d | sort -t"$(printf '\t')" -k2,2nr -k1,1 |
    head -n "$FRAMES" | cut -f1 | sed 's/.*/frame="&"/' | paste -sd'|' - | sed 's/|/ or /g')
"$FNSTORE" expand "origin=fulltext ($frames)" --sample "$SETS" --per frame --seed 1 --rounds "$ROUNDS" \
    --model rewriter --guide none || [ $? -eq 1 ]

# Sets that the expansion asked about already are passed over.
"$FNSTORE" verify origin=generated || [ $? -eq 1 ]

"$FNSTORE" edition show "$NAME" >/dev/null 2>&1 ||
    "$FNSTORE" edition create "$NAME" origin=generated --precision "$PRECISION"
"$FNSTORE" edition cut "$NAME" --format table
if [ "$("$FNSTORE" query "edition=$NAME" --count)" = 0 ]; then
    printf '\nJudge what the promise asks for, then run this again:\n\n    %s review --for %s --open\n' "$FNSTORE" "$NAME"
elif [ ! -e "$OUT" ]; then
    "$FNSTORE" edition publish "$NAME" "$OUT" --format table
else
    printf '\n%s is there already: remove it to publish the edition as it is now\n' "$OUT"
fi
