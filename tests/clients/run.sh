#!/usr/bin/env bash
# Programs of other people on simulated machines: AMD's rocminfo, runtime and OpenCL of three Debian releases, and
# tinygrad's AMD backend, as their packages have them. Needs root (apt, debootstrap, chroot), the network, Python with venv;
# everything that is not of Debian 12 lies in a folder of its own, which is removed unless CLIENTS names one to keep. Every
# client runs whatever became of those before; without its root a step ends the script. The last line is `clients: N passed, N failed`.
#
#     tests/clients/run.sh             all
#     tests/clients/run.sh STEP...     only these: host, trixie, unstable, tinygrad
set -euo pipefail
cd "$(dirname "$0")/../.."
# Where this machine's own packages come from.
MIRROR=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | awk '!/security/ && !n++')}
scratch=${CLIENTS:-$(mktemp -d)}
mkdir -p "$scratch"
mounted=()
leave() {
  local folder
  for folder in "${mounted[@]}"; do umount "$folder" || true; done
  [ -n "${CLIENTS:-}" ] || rm -rf --one-file-system "$scratch"
}
trap leave EXIT
passed=0 failures=()

# client NAME COMMAND...: runs and counts it.
client() {
  local name=$1 status; shift
  set +e
  (set -e; "$@") >"$scratch/said" 2>&1
  status=$?
  set -e
  if [ "$status" = 0 ]; then
    passed=$((passed + 1))
    printf 'ok      %s\n' "$name"
  else
    failures+=("$name")
    sed 's/^/    /' "$scratch/said"
    printf 'FAILED  %s\n' "$name"
  fi
}

# What of a record the decoders do not know, but for what is meant: an extended regular expression of such lines' ends.
# And there is a packet of each of the kinds.
known() {
  local meant=$1 kind; shift
  if grep -E '(\| unknown: |ioctl [0-9]+ unknown )' "$scratch/calls.log" | grep -vE "$meant"; then return 1; fi
  for kind in "$@"; do grep -qE " packet process [0-9]+ GPU [0-9]+ queue [0-9]+ $kind " "$scratch/calls.log"; done
}
NOTHING='^$'
# Bits that clients set and AMD's headers do not have, which the hardware ignores: on gfx12 that of GL1, a cache that it lacks,
# which code for all generations from gfx10 on invalidates (ROCr, amd_gpu_agent.cpp, `InvalidateCodeCaches`).
NO_GL1='ACQUIRE_MEM .*unknown: bits 0x200 of dword 7$'

need() { command -v "$1" >/dev/null || { apt-get update -q; apt-get install -y -q --no-install-recommends "$2"; }; }

# A root with a Debian release and packages, and simrun in it.
root() {
  local release=$1 root=$scratch/$1
  need debootstrap debootstrap
  # One that was not finished is made anew.
  [ -e "$root/.done" ] || { rm -rf --one-file-system "$root"; debootstrap --variant=minbase --include="$2" "$release" "$root" "$MIRROR" >"$scratch/$release.log"; touch "$root/.done"; }
  mountpoint -q "$root/proc" || { mount -t proc proc "$root/proc"; mounted+=("$root/proc"); }
  cp "$built/simrun" "$built/libselvedge_preload.so" "$root/usr/local/bin/"
}

# inside ROOT OPTIONS PROGRAM...: a program in a root, its record in calls.log.
inside() {
  local root=$scratch/$1 status=0; shift
  rm -f "$root/tmp/calls.log"
  timeout 600 chroot "$root" simrun --log /tmp/calls.log "$@" || status=$?
  mv "$root/tmp/calls.log" "$scratch/calls.log"
  return "$status"
}

rocminfo_in() {
  inside "$1" --machine "$2" rocminfo >"$scratch/rocminfo"
  grep -qE "^ *Name: +$2 *\$" "$scratch/rocminfo"
  grep -qF '*** Done ***' "$scratch/rocminfo"
  known "$NOTHING"
}

# The HSA program of Debian 12's compiler on a root's ROCr.
hsa_in() {
  local release=$1 gpu=$2 kernel=$3
  clang-19 -x cl -cl-std=CL2.0 --target=amdgcn-amd-amdhsa -mcpu="$gpu" -mcode-object-version=5 -nogpulib -O2 \
    kernels/k01_vadd.cl -o "$scratch/$release/tmp/vadd.hsaco"
  cp "$scratch/vector_add" "$scratch/$release/tmp/"
  inside "$release" --machine "$gpu" --kernel "$kernel" /tmp/vector_add /tmp/vadd.hsaco | tee "$scratch/hsa"
  grep -qx "$gpu: 4096 elements, 0 wrong" "$scratch/hsa"
  known "$([ "$gpu" = gfx1201 ] && echo "$NO_GL1" || echo "$NOTHING")" AQL PM4 SDMA
}

opencl_in() {
  cp "$scratch/opencl" "$scratch/$1/tmp/"
  inside "$1" --machine "$2" clinfo >"$scratch/clinfo"
  grep -qE "Device Name +$2" "$scratch/clinfo"
  inside "$1" --machine "$2" /tmp/opencl | tee "$scratch/hsa"
  grep -q "^$2.*: 4096 elements, 0 wrong" "$scratch/hsa"
  known "$NOTHING" AQL PM4
}

# tinygrad of PyPI. Such bits (ops_amd.py, `acquire_mem`, `release_mem`): the upper 24 of ACQUIRE_MEM's COHER_SIZE_HI;
# on gfx12 those of GLM and GL1.
tinygrad_on() {
  local gpu=$1 aql=$2 queue
  local meant='ACQUIRE_MEM .*unknown: bits 0xffffff00 of dword 3$'
  [ "$gpu" != gfx1201 ] ||
    meant='ACQUIRE_MEM .*unknown: bits 0xffffff00 of dword 3, bits 0x230 of dword 7$|RELEASE_MEM .*unknown: bits 0xb000 of dword 1$'
  rm -f "$scratch/calls.log"
  # A simulated GPU is slow: longer than tinygrad's own 30 s.
  DEV=AMD CC=clang-19 HCQDEV_WAIT_TIMEOUT_MS=300000 AMD_AQL=$aql "$built/simrun" --machine "$gpu" \
    --log "$scratch/calls.log" "$scratch/python/bin/python3" tests/clients/tinygrad/check.py
  # PM4 is type 0, SDMA 1, AQL 2 (kfd_ioctl.h, KFD_IOC_QUEUE_TYPE_*).
  for queue in $((aql * 2)) 1; do
    grep 'AMDKFD_IOC_CREATE_QUEUE' "$scratch/calls.log" | grep -q "queue_type=0x$queue "
  done
  known "$meant" PM4 SDMA
}

host() {
  client "Debian 12: rocminfo, the HSA program, our runtime beside ROCr" .ci/run rocminfo hsa shared_process
}

trixie() {
  local gpu
  root trixie rocminfo,kmod,libhsa-runtime64-1,rocm-opencl-icd,clinfo,ocl-icd-libopencl1
  for gpu in gfx1100 gfx1151 gfx90a; do client "Debian 13's rocminfo on $gpu" rocminfo_in trixie "$gpu"; done
  for gpu in gfx1100 gfx90a gfx1030; do client "the HSA program on Debian 13's ROCr, $gpu" hsa_in trixie "$gpu" 6.18; done
  # Newer kernels refuse this ROCr's queues there (docs/SIMRUN.md).
  client "the HSA program on Debian 13's ROCr, gfx1151, Linux 6.5" hsa_in trixie gfx1151 6.5
  [ -e /usr/include/CL/cl.h ] || { apt-get update -q; apt-get install -y -q --no-install-recommends ocl-icd-opencl-dev; }
  cc -O1 -Wall -Wextra -o "$scratch/opencl" tests/clients/opencl/vector_add.c -lOpenCL
  client "Debian 13's OpenCL: clinfo and a program that it compiles, gfx1100" opencl_in trixie gfx1100
}

unstable() {
  local gpu
  root unstable rocminfo,kmod
  for gpu in gfx1151 gfx1100 gfx1201 gfx1200 gfx90a gfx1030; do client "Debian unstable's rocminfo on $gpu" rocminfo_in unstable "$gpu"; done
  for gpu in gfx1201 gfx1100 gfx90a; do client "the HSA program on Debian unstable's ROCr, $gpu" hsa_in unstable "$gpu" 6.18; done
}

tinygrad() {
  local gpu aql
  [ -e "$scratch/python/bin/pip" ] || python3 -m venv "$scratch/python"
  "$scratch/python/bin/pip" install -q tinygrad==0.14.0 numpy
  for gpu in gfx1100 gfx1201; do
    for aql in 0 1; do
      client "tinygrad 0.14.0 on $gpu, $([ "$aql" = 1 ] && echo AQL || echo PM4) queues" tinygrad_on "$gpu" "$aql"
    done
  done
}

.ci/run tools
cargo build -p selvedge-preload
built=${CARGO_TARGET_DIR:-target}/debug
[ -e /usr/include/hsa/hsa.h ] || { apt-get update -q; apt-get install -y -q --no-install-recommends libhsa-runtime-dev libc6-dev; }
cc -O1 -Wall -Wextra -o "$scratch/vector_add" tests/clients/hsa/vector_add.c -lhsa-runtime64
steps=("$@")
[ $# -gt 0 ] || steps=(host trixie unstable tinygrad)
for step in "${steps[@]}"; do "$step"; done
[ ${#failures[@]} = 0 ] || printf 'failed: %s\n' "${failures[@]}"
printf 'clients: %d passed, %d failed\n' "$passed" "${#failures[@]}"
[ ${#failures[@]} = 0 ]
