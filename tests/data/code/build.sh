#!/bin/sh
# Rebuilds the data of this directory from its sources; needs clang, lld, llvm and clang-tools 19,
# llvm 14 (code object V3) and llvm and clang-tools 22 (compressed bundle V3, newer processors).
set -eu
cd "$(dirname "$0")"
llvm14=${LLVM14:-/usr/lib/llvm-14/bin} llvm19=${LLVM19:-/usr/lib/llvm-19/bin} llvm22=${LLVM22:-/usr/lib/llvm-22/bin}
bundler19=${BUNDLER19:-$llvm19/clang-offload-bundler} bundler22=${BUNDLER22:-$llvm22/clang-offload-bundler}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
amd="--target=amdgcn-amd-amdhsa -nogpulib -fno-ident"
quiet() { "$@" 2>"$tmp/log" || { cat "$tmp/log" >&2; exit 1; }; }

cl() { # output, processor, version, more...
    out=$1 cpu=$2 version=$3; shift 3
    quiet "$llvm19/clang" -x cl -cl-std=CL2.0 $amd -O2 -mcpu="$cpu" -mcode-object-version="$version" vadd.cl -o "$out" "$@"
}
cl vadd-gfx1151-v4.co gfx1151 4
cl vadd-gfx1151-v5.co gfx1151 5
cl vadd-gfx1151-v6.co gfx1151 6
cl vadd-gfx1100-v5.co gfx1100 5
cl vadd-gfx11-generic-v6.co gfx11-generic 6
cl vadd-gfx906-v5.co gfx906 5
cl vadd-gfx906-xnack+-v5.co gfx906:xnack+ 5
cl vadd-gfx90a-sramecc+xnack--v4.co gfx90a:sramecc+:xnack- 4
cl vadd-gfx1151-v5.o gfx1151 5 -c
c() { quiet "$llvm19/clang" -x c -std=c11 $amd -O1 -mcpu=gfx1151 -mcode-object-version=5 "$@"; }
c globals.c -o globals-gfx1151-v5.co -Wl,--unresolved-symbols=ignore-all
c globals.c -o "$tmp/stripped.co" -Wl,--unresolved-symbols=ignore-all
"$llvm19/llvm-objcopy" --strip-sections "$tmp/stripped.co" globals-stripped.co
c calls.c -o calls-gfx1151-v5.o -c
quiet "$llvm19/clang" -x assembler $amd -mcpu=gfx1151 -mcode-object-version=4 -c table.s -o table-gfx1151-v4.o
as() { # output, source, processor
    quiet "$llvm19/clang" -x assembler $amd -mcpu="$3" -mcode-object-version=4 -c "$2" -o "$tmp/as.o"
    "$llvm19/ld.lld" -shared --unresolved-symbols=ignore-all "$tmp/as.o" -o "$1"
}
as lds-gfx1151-v4.co lds.s gfx1151
as hidden-gfx90a-v4.co hidden.s gfx90a:sramecc+:xnack-
"$llvm14/llc" -mcpu=gfx906 --amdhsa-code-object-version=3 -filetype=obj v3.ll -o "$tmp/v3.o"
"$llvm19/ld.lld" -shared "$tmp/v3.o" -o store-gfx906-v3.co
"$llvm14/llc" -mcpu=gfx906 -mattr=-xnack --amdhsa-code-object-version=3 -filetype=obj v3.ll -o "$tmp/v3.o"
"$llvm19/ld.lld" -shared "$tmp/v3.o" -o store-gfx906-xnack--v3.co

# What LLVM reads in them.
for object in *.co *.o; do
    "$llvm19/llvm-readelf" -W -h -l -S -s -r --notes "$object" >"$object.txt" 2>/dev/null
done

# Bundles.
: >"$tmp/host"
bundle() { # tool, output, more...
    tool=$1 out=$2; shift 2
    "$tool" -type=o -bundle-align=4096 -output="$out" "$@" \
        -targets=host-x86_64-unknown-linux--,hipv4-amdgcn-amd-amdhsa--gfx1100,hipv4-amdgcn-amd-amdhsa--gfx1151 \
        -input="$tmp/host" -input=vadd-gfx1100-v5.co -input=vadd-gfx1151-v5.co
}
bundle "$bundler19" plain.hipfb
bundle "$bundler19" zstd-v2.hipfb -compress
bundle "$bundler22" zstd-v3.hipfb -compress
# A host library with two bundles in .hip_fatbin, as two translation units give.
cat >"$tmp/host.s" <<END
.section .hip_fatbin,"a",@progbits
.p2align 12
.incbin "zstd-v2.hipfb"
.p2align 12
.incbin "zstd-v3.hipfb"
END
"$llvm19/clang" --target=x86_64-unknown-linux-gnu -c "$tmp/host.s" -o "$tmp/host.o"
"$llvm19/ld.lld" -shared "$tmp/host.o" -o libhost.so

# Every value of e_flags' low byte as LLVM 22 names it, for ABI V6, and the target features that
# clang 22 knows of each processor.
python3 - "$llvm22" vadd-gfx1151-v6.co >processors.txt <<'END'
import re, subprocess, sys, tempfile
llvm, path = sys.argv[1:]
data = bytearray(open(path, "rb").read())
for mach in range(256):
    data[48] = mach
    with tempfile.NamedTemporaryFile() as f:
        f.write(data); f.flush()
        text = subprocess.run([llvm + "/llvm-readelf", "-h", f.name], capture_output=True, text=True).stdout
    name = re.search(r"Flags:\s+0x[0-9A-Fa-f]+(?:, ([\w-]+))?", text).group(1) or "-"
    if not name.startswith("gfx"):
        continue
    has = []
    for feature in ("sramecc", "xnack"):
        command = [llvm + "/clang", "-x", "c", "--target=amdgcn-amd-amdhsa", "-nogpulib", "-S", "-o", "/dev/null",
                   "-mcode-object-version=6", f"-mcpu={name}:{feature}+", "/dev/null"]
        if subprocess.run(command, capture_output=True).returncode == 0:
            has.append(feature)
    print(f"{mach:#04x} {name} {','.join(has) or '-'}")
END
