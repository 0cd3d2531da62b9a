#!/usr/bin/env bash
# Checks that declarations type-check quickly: compiles 300 in all forms, and counts the scopes of the type checker.
# The count is the same on every machine, and time grows with it: 300 declarations take 11,000 scopes and 0.3 s. An
# unnecessary overload multiplies the count of one form. Then checks the messages of the compiler: compiles the programs
# of the guide “When it does not compile”, each of which gets the messages that the guide shows.
set -euo pipefail
cd "$(dirname "$0")/.."
modules="${1:-$(swift build --show-bin-path)/Modules}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# Counts the scopes of 300 declarations; N in a form is their number.
scopes() {
    {
        echo 'import Tweaks'
        echo 'enum Side: String, CaseIterable, TweakConvertible { case left, right }'
        echo '@MainActor final class Label { var text = ""; var alpha = 0.0 }'
        echo '@MainActor enum All {'
        for ((number = 0; number < 300; number++)); do
            form=${forms[number % ${#forms[@]}]}
            echo "    ${form//N/$number}"
        done
        echo '}'
    } >"$work/Declarations.swift"
    rm -rf "$work/statistics"
    mkdir "$work/statistics"
    swiftc -frontend -typecheck -swift-version 6 -I "$modules" -stats-output-dir "$work/statistics" \
        "$work/Declarations.swift" >&2 || return 1
    sed -n 's/.*"Sema.NumConstraintScopes": \([0-9]*\).*/\1/p' "$work"/statistics/*.json
}

# The limit of scopes for one declaration, a quarter above the measurement, and the form.
while IFS='|' read -r most form; do
    all+=("$form")
    forms=("$form")
    each=$(($(scopes) / 300))
    printf '%4d of %3d  %s\n' "$each" "$most" "$form"
    [ "$each" -le "$most" ] || { echo "typecheck: that is too many" >&2; failures=1; }
done <<'END'
 36|static let aN = Tweak("C", "G", "N", 60.0, in: 10...100, step: 0.5, unit: "pt", help: "Label size")
 40|static let aN = Tweak("C", "G", "N", "Tweaks", maxLength: 40)
 40|static let aN = Tweak("C", "G", "N", Side.left)
 40|static let aN = Tweak("C", "G", "N", TweakColor.black)
112|static let aN = Tweak("C", "G", "N", .milliseconds(250), in: .zero ... .seconds(5))
 53|static let aN = Tweak("C", "G", "N", "one", choices: ["one", "two"])
 53|static let aN = Tweak("C", "G", "N", "one", choices: ["one": "One", "two": "Two"])
 36|struct SN { @Tweak("C", "G", "N", in: 10...100) var a = 60.0 }
 40|static func aN() -> Double { tweakValue("C", "G", "N", 60.0, in: 10...100) }
 40|static func aN() -> Double { tweakInline("C", "G", "N", 60.0, in: 10...100).value }
 62|static func aN(_ label: Label) { tweakBind(label, \.text, "C", "G", "N", "Tweaks") }
 25|static func aN() { tweakAction("C", "G", "N") { _ in "muted" } }
END
forms=("${all[@]}")
printf '%s scopes for 300 declarations in all forms\n' "$(scopes)"

# Compiles a block of the guide, whose comments `// error: …` and `// warning: …` are messages; `…` stands for any text.
# Prints those that the compiler does not write, and the number of others that it writes.
messages() {
    local block=$1 said kind text pattern shown count
    said=$({ echo 'import Tweaks' && cat "$block"; } >"$work/main.swift" &&
        swiftc -emit-sil -swift-version 6 -I "$modules" "$work/main.swift" -o /dev/null 2>&1 >/dev/null || true)
    shown=$(grep -cE '^ *// (error|warning): ' "$block")
    [ "$shown" -gt 0 ] || echo "it shows no message"
    count=$(grep -E '^[^|]*:[0-9]+:[0-9]+: (error|warning): ' <<<"$said" | sort -u | wc -l)
    [ "$count" -eq "$shown" ] || echo "it shows $shown messages, and the compiler writes $count"
    while IFS='|' read -r kind text; do
        pattern=$(sed 's/[][\.*^$(){}+?|]/\\&/g; s/…/.*/g' <<<"$text")
        grep -qE "^[^|]*[:] $kind: $pattern" <<<"$said" || printf 'no %s: %s\n' "$kind" "$text"
    done < <(sed -nE 's/^ *\/\/ (error|warning): (.*)/\1|\2/p' "$block")
}

guide=Sources/Tweaks/Tweaks.docc/WhenItDoesNotCompile.md
mkdir "$work/blocks"
awk -v out="$work/blocks/" '
    /^```$/ { file = "" }
    file { print > file }
    /^```swift-error$/ { file = out NR ".swift"; printf "" > file }' "$guide"
count=0
for block in "$work"/blocks/*.swift; do
    count=$((count + 1))
    problems=$(messages "$block")
    [ -n "$problems" ] || continue
    line=${block##*/}
    printf '%s:%s: %s\n' "$guide" "${line%.swift}" "$problems" >&2
    failures=1
done
printf '%s programs of the guide do not compile and get the messages that it shows\n' "$count"
[ "$count" -gt 0 ] || failures=1
exit "$failures"
