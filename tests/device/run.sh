#!/usr/bin/env bash
# What can only be seen with an NVIDIA GPU: our figures beside nvidia-smi's, a watch on a program that leaks, and why one
# that runs out of memory died. Needs nothing but the repository, nvidia-smi, Python 3, and, for the last parts, PyTorch.
#
#   tests/device/run.sh [FOLDER]     writes report.txt and captures there (or to $OUT); under 6 minutes, 8 files at most
#
# Exit 0: all agrees. 1: report.txt names what differs. 77: no GPU here.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:-${OUT:-device-report}}
mkdir -p "$out"
report=$out/report.txt
: >"$report"
say() { printf '%s\n' "$*" | tee -a "$report"; }

command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1 || { echo "no NVIDIA GPU or driver here"; exit 77; }
program=${VRAMSCOPE:-build/vramscope}
[ -x "$program" ] || ./dev build || exit 1
python=$(command -v python3)
failed=0
begin=$(date +%s)
part() {  # part TITLE COMMAND…: runs it into the report
  local title=$1 status; shift
  say ""; say "== $title ($(($(date +%s) - begin)) s)"
  timeout 120 "$@" >>"$report" 2>&1
  status=$?
  case $status in
    0) say "ok" ;;
    77) say "skipped" ;;
    *) say "FAILED ($status)"; failed=1 ;;
  esac
}

say "machine: $(uname -srm); driver $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)"
nvidia-smi -L | tee -a "$report"
say "$("$program" --version)"

part "smi beside nvidia-smi, field by field" "$python" tests/device/compare_smi.py "$program" "$out/smi_captures.txt"
part "status" "$program" status --look 3s --width 120
"$program" status --look 1s --json >"$out/status.json" 2>>"$report" || failed=1
part "cost of a sample on this driver" "$python" tests/device/sample_cost.py "$program"

if "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
  part "watch sees a leak" "$python" tests/device/watch_leak.py "$program" "$out/leak.vrs" "$out/leak.txt"
  part "why it died: out of memory" "$python" tests/device/watch_oom.py "$program" "$out/oom.txt" "$out/oom_snapshot.pickle"
else
  say ""; say "== PyTorch with CUDA is not here: watch on a leak and out of memory were not tried"
fi
say ""; say "$(($(date +%s) - begin)) s; $([ $failed -eq 0 ] && echo 'all agrees' || echo 'something differs')"
exit $failed
