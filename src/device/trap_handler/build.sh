#!/bin/sh
# Assembles the trap handlers.
#
#   build.sh            gfx11.s to gfx11.bin, gfx12.s to gfx12.bin
#   build.sh --check    compares with them instead
set -eu
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# One binary serves a whole generation.
assemble() {
	generation=$1
	shift
	for target in "$@"; do
		llvm-mc-19 --arch=amdgcn --mcpu="$target" --filetype=obj -o "$scratch/$target.o" "$generation.s"
		llvm-objcopy-19 -O binary -j .text "$scratch/$target.o" "$scratch/$target.bin"
		cmp "$scratch/$1.bin" "$scratch/$target.bin"
	done
	if [ -n "$check" ]; then
		cmp "$scratch/$1.bin" "$generation.bin"
	else
		install -m 644 "$scratch/$1.bin" "$generation.bin"
	fi
}
case "${1-}" in
--check) check=1 ;;
'') check= ;;
*) echo "usage: $0 [--check]" >&2; exit 2 ;;
esac
assemble gfx11 gfx1100 gfx1151
assemble gfx12 gfx1200 gfx1201
