#!/usr/bin/env bash
# Demonstrates a fleet: etcd and fifty services, a good rollout that finishes, and a bad one that is aborted.
#
# Run bash Examples/fleet/demo.sh. It needs etcd (Debian: etcd-server) and takes two minutes, plus the first build.
# Set FLEET_SERVICES=10 on a smaller machine. At exit the script stops its processes and deletes its files.

set -euo pipefail
cd "$(dirname "$0")/../.."
count=${FLEET_SERVICES:-50}
unset TWEAKS_TESTS TWEAKS_FLEET TWEAKS_FLEET_PREFIX TWEAKS_FLEET_INSTANCE TWEAKS_FLEET_LABELS

if ! command -v etcd >/dev/null; then
    echo "etcd is not installed: apt-get install etcd-server" >&2
    exit 3
fi

work=$(mktemp -d)
pids=()

end() {
    trap - EXIT
    # Stop services first, so that none reports a missing etcd; stop all of them, even after an early failure.
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    [ -z "${etcd:-}" ] || { kill "$etcd" && wait "$etcd"; } 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM HUP

if [ -t 1 ]; then bold=$'\e[1m' faint=$'\e[2m' plain=$'\e[0m'; else bold='' faint='' plain=''; fi

say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }

# Prints a command as typed in a shell, and runs it.
run() {
    local words='' word
    for word in "$@"; do
        case $word in *[!A-Za-z0-9/.,:=_-]*) word="'$word'" ;; esac
        words+=" $word"
    done
    printf '\n%s$%s%s\n' "$faint" "$plain" "$words"
    "$@" </dev/null || printf '%sexit code %s%s\n' "$faint" "$?" "$plain"
}

# --- Build ---------------------------------------------------------------------------------------------------------

say "Building the service and tweakctl"
for product in fleet tweakctl tweakctl-fleet; do swift build --quiet --product "$product"; done
PATH=$(swift build --show-bin-path):$PATH

# --- Start ---------------------------------------------------------------------------------------------------------

# Try random ports: if one is in use, etcd exits at once.
for _ in 1 2 3 4 5; do
    port=$((20000 + RANDOM % 20000))
    export TWEAKS_FLEET=http://127.0.0.1:$port
    peer=http://127.0.0.1:$((port + 1))
    etcd --data-dir "$work/etcd" --listen-client-urls "$TWEAKS_FLEET" --advertise-client-urls "$TWEAKS_FLEET" \
        --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer" \
        >"$work/etcd.log" 2>&1 &
    etcd=$!
    until grep -q 'ready to serve client requests' "$work/etcd.log" || ! kill -0 "$etcd" 2>/dev/null; do sleep 0.1; done
    if kill -0 "$etcd" 2>/dev/null; then break; fi
    etcd=''
done
[ -n "$etcd" ] || { cat "$work/etcd.log" >&2 && exit 3; }

say "An etcd at $TWEAKS_FLEET, and $count services that follow the fleet “quotes” there"
mkdir "$work/run"
for number in $(seq "$count"); do
    zone=eu
    [ $((number % 5)) -ne 0 ] || zone=us
    mkdir -p -m 700 "$work/state/$number"
    TWEAKS_FLEET_INSTANCE=quotes-$number TWEAKS_FLEET_LABELS=zone=$zone XDG_RUNTIME_DIR=$work/run \
        STATE_DIRECTORY=$work/state/$number fleet >"$work/state/$number/log" 2>&1 &
    pids+=($!)
done
until tweakctl fleet quotes status --json | grep -q "\"live\":$count,"; do sleep 0.2; done
run tweakctl fleet quotes status

# Waits until all services have reported the last write.
wait_for_reports() { until tweakctl fleet quotes status --json | grep -q '"lagging":\[\]'; do sleep 0.2; done; }

# --- Values --------------------------------------------------------------------------------------------------------

say "A value for all of them"
run tweakctl fleet quotes set Upstream/Quotes/Timeout = 1s
wait_for_reports
run tweakctl fleet quotes get 'Upstream/**'

say "A rollout, monitored for a minute before it is permanent"
run tweakctl fleet quotes rollout Upstream/Quotes/Retries = 2 --steps 100 --every 60s \
    --abort-if 'Service/Errors/Rate > 5' --yes

say "A bad one: no request succeeds within 20 ms. The errors of the first fifth abort it"
run tweakctl fleet quotes rollout Upstream/Quotes/Timeout = 20ms --steps 20,100 --every 60s \
    --abort-if 'Service/Errors/Rate > 5' --yes
wait_for_reports

say "The history, and the same values as before the bad rollout"
run tweakctl fleet quotes history
run tweakctl fleet quotes get 'Upstream/**'
run tweakctl fleet quotes status
