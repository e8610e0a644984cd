#!/usr/bin/env bash
# run.sh BUILD SECONDS [TARGET [LIBFUZZER OPTION…]]: runs the fuzz targets in turn, which share the time, or one of them.
# Inputs that break something are kept in BUILD/fuzz-findings; what extends coverage in BUILD/fuzz-corpus.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd) seconds=$2
only=${3:-}
options=("${@:4}")
status=0
targets=("$root"/fuzz/*_fuzz.cpp)
[ -n "$only" ] || seconds=$(((seconds + ${#targets[@]} - 1) / ${#targets[@]}))
for source in "${targets[@]}"; do
  name=$(basename "$source" .cpp)
  [ -z "$only" ] || [ "$only" = "$name" ] || continue
  corpus=$build/fuzz-corpus/$name seeds=$build/fuzz-seeds/$name findings=$build/fuzz-findings/$name
  rm -rf "$seeds"
  mkdir -p "$corpus" "$seeds" "$findings"
  # One folder of seeds: libFuzzer takes folders only.
  for input in "$root"/tests/golden/*/*/* "$root"/tests/recording/golden/*.vrs "$root"/tests/roots/drm/*.tree; do
    case $name:$(basename "$input") in
      kineto_fuzz:input*.json* | snapshot_fuzz:*.pickle | log_fuzz:*.log | log_fuzz:*.txt | recording_fuzz:*.vrs | drm_fuzz:*.tree) ;;
      device_log_fuzz:input.*) [[ $input == */golden/logs/* ]] || continue ;;
      log_fuzz:input*.json) [[ $input == */timeline* ]] || continue ;;
      *) continue ;;
    esac
    [ "$(stat -c %s "$input")" -le 65536 ] || continue
    cp "$input" "$seeds/$(basename "$(dirname "$input")")-$(basename "$input")"
  done
  ls -A "$seeds" | grep -q . || { echo "$name: no seeds"; exit 1; }
  log=$(mktemp)
  if "$build/$name" -max_total_time="$seconds" -max_len=65536 -timeout=20 -rss_limit_mb=3000 -dict="$root/fuzz/${name%_fuzz}.dict" \
    -artifact_prefix="$findings/" -print_final_stats=1 "${options[@]}" "$corpus" "$seeds" >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$name: $runs inputs in $seconds s, nothing found"
  else
    cat "$log"
    echo "$name: FAILED, see $findings"
    status=1
  fi
  rm -f "$log"
done
exit $status
