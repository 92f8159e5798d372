#!/usr/bin/env bash
# Programs of other people on simulated machines, by hand: AMD's rocminfo and runtime, and tinygrad's AMD backend, as their
# packages have them. Needs root for apt, clang-19, Python with pip; installs tinygrad into an environment of its own.
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

.ci/run tools rocminfo hsa

simrun=${CARGO_TARGET_DIR:-target}/release/simrun
python3 -m venv "$scratch/python"
"$scratch/python/bin/pip" install -q tinygrad==0.14.0 numpy
# A simulated GPU is slow: longer than tinygrad's own 30 s.
export DEV=AMD CC=clang-19 HCQDEV_WAIT_TIMEOUT_MS=300000
for gpu in gfx1100 gfx1151 gfx1201; do
  for aql in 0 1; do
    printf '%s, %s queues\n' "$gpu" "$([ "$aql" = 1 ] && echo AQL || echo PM4)"
    AMD_AQL=$aql "$simrun" --machine "$gpu" --log "$scratch/calls.log" \
      "$scratch/python/bin/python3" tests/clients/tinygrad/check.py
    # PM4 is type 0, SDMA 1, AQL 2 (kfd_ioctl.h, KFD_IOC_QUEUE_TYPE_*).
    for queue in $((aql * 2)) 1; do
      grep 'AMDKFD_IOC_CREATE_QUEUE' "$scratch/calls.log" | grep -q "queue_type=0x$queue "
    done
    rm "$scratch/calls.log"
  done
done
