#!/usr/bin/env bash
# Checks that reads are constants with the trait Frozen: builds the probe, runs it, and inspects its machine code.
set -euo pipefail
cd "$(dirname "$0")/.."
export SWIFT_BACKTRACE=enable=no
scratch="${1:-.build/frozen}"
failures=0

fail() {
    echo "frozen: $*" >&2
    failures=$((failures + 1))
}

swift build -c release --traits Frozen --product TweaksFrozenProbe --scratch-path "$scratch"
swift build -c release --traits Frozen --target TweaksFoundation --scratch-path "$scratch"
probe="$(swift build -c release --traits Frozen --scratch-path "$scratch" --show-bin-path)/TweaksFrozenProbe"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

# The binary contains no server.
for module in TweaksServer TweaksStorage TweaksPanel TweaksWire; do
    count=$(nm "$probe" | grep -c "${#module}$module" || true)
    [ "$count" = 0 ] || fail "it holds $count symbols of $module"
done
strip -o "$probe.stripped" "$probe"
size=$(stat -c %s "$probe.stripped")
echo "frozen: the probe is $size bytes, stripped"

# Its output: all attempts leave the values unchanged and open nothing: one thread, no socket, no file.
said=$(HOME="$home" XDG_RUNTIME_DIR="$home" XDG_STATE_HOME="$home" "$probe" 2>"$home.log")
cat "$home.log"
echo "$said"
expect() { grep -qxF -- "$1" <<<"$said" || fail "it did not say “$1”"; }
expect "served: false"
expect "set: read-only"
expect "set out of range: read-only"
expect "erased set: read-only"
expect "commit: read-only"
expect "group: 3 read-only 3 60.0"
expect "reset: nil"
expect "figure set: ok"
expect "frozen: true"
expect "bound: 60.0"
expect "first of values: 60.0"
expect "second of values: nil"
expect "range: 10.0 100.0 0.5"
expect "listed: 0"
expect "registered: 0"
expect "threads: 1"
expect "sockets: 0"
expect "ended: true"
! grep -q '^observed' <<<"$said" || fail "an observer ran"
[ "$(grep -c '^values: 60.0 42 true ' <<<"$said")" = 2 ] || fail "the values are not the defaults, before and after"
[ "$(grep '^values' <<<"$said" | sort -u | wc -l)" = 2 ] || fail "a value changed"
grep -q 'built with the Frozen trait' "$home.log" || fail "it does not say that it is frozen"
[ "$(wc -l <"$home.log")" = 1 ] || fail "it says more than one line on standard error"
[ -z "$(ls -A "$home")" ] || fail "it made files: $(ls -A "$home")"
rm -f "$home.log"

# Its code: a function of Reads.swift may consist of a prologue and the constant. A double may be loaded from a constant,
# not from a variable (…vp…). A call or a jump fails.
disassembler=$(command -v objdump || command -v llvm-objdump)
code=$("$disassembler" -d --no-show-raw-insn "$probe" | awk '
    /^[0-9a-f]+ <.*TweaksFrozenProbe[0-9]+(reads|assigns)[A-Z]/ { inside = 1 }
    /^$/ { inside = 0 }
    inside')
[ "$(grep -c '>:$' <<<"$code")" = 18 ] || fail "not all of the 18 functions are there"
report=$(awk '
    />:$/ { name = $2; loads = 0; is_double = name ~ /Sd[yv]*F/; next }
    { line = $0; sub(/^[^:]*:[ \t]*/, "", line); split(line, word, /[ \t]+/); operation = word[1] }
    operation ~ /^(call|bl|blr|blraa|br)/ { print name ": " line }
    operation ~ /^j/ || (operation ~ /^(b|b\..*|cbn?z|tbn?z)$/) { print name ": " line }
    operation !~ /^(lea|nop|cs|data16)/ && line ~ /(\(%)|(\[x)/ {
        if (!is_double || ++loads > 1 || line ~ /vp[Z>]/ || line ~ /_W[zZ]/) print name ": " line
    }' <<<"$code")
[ -z "$report" ] || fail "not constant:"$'\n'"$report"

[ "$failures" = 0 ] || { echo "$code"; exit 1; }
echo "frozen: $(grep -c '>:$' <<<"$code") reads and writes are constants"
