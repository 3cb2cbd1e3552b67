#!/bin/bash
# Runs both kinds of cluster on this machine, on the small lexicon, and compares the stores with one run's, byte by byte.
#
#     docs/cluster/test.sh slurm|ray
#
# slurm: as root on Debian 12 with slurm-wlm and munge; starts a cluster of one node, bound to the loopback.
# ray: with `pip install ray` in the Python that comes first in PATH.
# The program `fnstore` must be in PATH.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
clean() { pkill -F "$work/slurmctld.pid" 2>/dev/null || true; pkill -F "$work/slurmd.pid" 2>/dev/null || true; rm -rf "$work"; }
trap clean EXIT
fnstore --store "$work/whole" import "$here/../../tests/data/mini-framenet" >/dev/null
cp -r "$work/whole" "$work/parted"
expand=(frame=Checking --model paraphrase --beam 4 --rounds 2)
fnstore --store "$work/whole" expand "${expand[@]}" >/dev/null

slurm() {
    local host
    host=$(hostname -s)
    cat > "$work/slurm.conf" <<CONF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
SlurmUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=2048 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP
CONF
    export SLURM_CONF=$work/slurm.conf
    mkdir -p "$work/state" "$work/spool" /run/munge
    pgrep munged >/dev/null || { chown munge: /run/munge; runuser -u munge -- munged; }
    slurmctld; slurmd
    for _ in $(seq 30); do sinfo --noheader | grep -q idle && break; sleep 1; done
    (cd "$work" && sbatch --wait --array=1-3 "$here/slurm/expand.sbatch" "$work/parted" "$work/shards" 3 "${expand[@]}")
    fnstore --store "$work/parted" merge "$work"/shards/*.zst
}

ray() { python "$here/ray/expand.py" "$work/parted" "$work/shards" 3 "${expand[@]}"; }

"$1"
cmp <(fnstore --store "$work/whole" export --to jsonl) <(fnstore --store "$work/parted" export --to jsonl)
echo "$1: three shards and one run give the same bytes"
