#!/bin/sh
# Assembles the trap handlers.
#
#   build.sh            gfx11.s to gfx11.bin
#   build.sh --check    compares with gfx11.bin instead
set -eu
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# One binary serves the whole generation.
for target in gfx1100 gfx1151; do
	llvm-mc-19 --arch=amdgcn --mcpu="$target" --filetype=obj -o "$scratch/$target.o" gfx11.s
	llvm-objcopy-19 -O binary -j .text "$scratch/$target.o" "$scratch/$target.bin"
done
cmp "$scratch/gfx1100.bin" "$scratch/gfx1151.bin"
case "${1-}" in
--check) cmp "$scratch/gfx1151.bin" gfx11.bin ;;
'') install -m 644 "$scratch/gfx1151.bin" gfx11.bin ;;
*) echo "usage: $0 [--check]" >&2; exit 2 ;;
esac
