#!/usr/bin/env bash
# Checks a Debian package that ./dev package made. Builds nothing.
#   check_package.sh PACKAGE.deb
# With VRAMSCOPE_FRESH_ROOT=FOLDER (a Debian root; it is changed and changed back; root alone can do it) the package is
# also installed there, used and removed; VRAMSCOPE_FRESH_ROOT=debootstrap makes a small root first.
set -uo pipefail
export LC_ALL=C.UTF-8
package=$(readlink -f "${1:?usage: check_package.sh PACKAGE.deb}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

ok() { passed=$((passed + 1)); echo "ok    $1"; }
bad() { failed=$((failed + 1)); echo "FAIL  $1"; }
left_out() { echo "left out: $1"; }
# check NAME COMMAND…: its output is shown only when it fails.
check() {
  local name=$1 output; shift
  if output=$("$@" 2>&1); then ok "$name"; else bad "$name"; printf '%s\n' "$output" | head -20; fi
}
# is NAME GOT WANTED: shows where two texts differ.
is() { if [ "$2" = "$3" ]; then ok "$1"; else bad "$1"; diff <(echo "$3") <(echo "$2") | head -20; fi; }

field() { dpkg-deb -f "$package" "$1"; }

# --- what dpkg is told ------------------------------------------------------------------------------------------

check_control() {
  is "name of the file" "$(basename "$package")" "$(field Package)_$(field Version)_$(field Architecture).deb"
  is "no maintainer scripts" "$(dpkg-deb --ctrl-tarfile "$package" | tar -t | sed 's|^\./||; /^$/d' | sort | xargs)" \
    "control md5sums"
  local other
  other=$(field Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//' | grep -vxE 'libc6|libstdc\+\+6|libgcc-s1')
  is "depends on the C and C++ libraries alone" "$other" ""
  check "depends on libc6" grep -q 'libc6 (>= ' <<<"$(field Depends)"
  check "suggests libcurl" grep -q 'libcurl4' <<<"$(field Suggests)"
  check "has a maintainer" grep -qE '^.+ <[^ ]+@[^ ]+>$' <<<"$(field Maintainer)"
}

# --- what lies in it --------------------------------------------------------------------------------------------

check_files() {
  local root=$scratch/root documents=usr/share/doc/vramscope file missing='' listing
  mkdir "$root" && dpkg-deb -x "$package" "$root" || { bad "unpacks"; return; }
  for file in usr/bin/vramscope usr/share/man/man1/vramscope.1.gz usr/share/man/zh_CN/man1/vramscope.1.gz \
    usr/share/bash-completion/completions/vramscope usr/share/zsh/vendor-completions/_vramscope \
    usr/share/fish/vendor_completions.d/vramscope.fish $documents/copyright $documents/changelog.gz \
    $documents/scenarios.md $documents/rules/memory-growth.md $documents/rules/memory-growth.zh-CN.md \
    $documents/schemas/status.schema.json; do
    [ -s "$root/$file" ] || missing+=" $file"
  done
  is "all files are there" "$missing" ""
  is "nothing is named nvidia-smi" "$(find "$root" -iname '*nvidia*smi*')" ""
  is "nothing outside usr" "$(find "$root" -mindepth 1 -maxdepth 1 ! -name usr)" ""
  is "one program" "$(find "$root" -type f -perm /111 -printf '%P\n')" usr/bin/vramscope
  listing=$(dpkg-deb -c "$package")
  is "all belongs to root" "$(awk '$2 != "root/root"' <<<"$listing")" ""
  is "usual permissions" "$(awk '$1 !~ /^(drwxr-xr-x|-rw-r--r--)$/ { print $6 }' <<<"$listing")" ./usr/bin/vramscope
  is "one time for all files" "$(awk '{ print $4, $5 }' <<<"$listing" | sort -u | wc -l)" 1
  mkdir "$scratch/control" && dpkg-deb -e "$package" "$scratch/control"
  check "sums" bash -c "cd '$root' && md5sum --quiet -c '$scratch/control/md5sums'"
  is "every file has a sum" "$(wc -l <"$scratch/control/md5sums")" "$(find "$root" -type f | wc -l)"
  for file in $(find "$root" -name '*.gz'); do
    check "${file#"$root"/}: whole, without a time" bash -c "gzip -t '$file' && [ \"\$(od -An -tu1 -j4 -N4 '$file' | xargs)\" = '0 0 0 0' ]"
  done
  check_copyright "$root/$documents/copyright"
  check "changelog: the version" bash -c \
    "zcat '$root/$documents/changelog.gz' | head -1 | grep -qF 'vramscope ($(field Version)) '"
  check_program "$root"
}

check_copyright() {
  local file=$1 name missing=''
  for name in vramscope fmt abseil CLI11 rapidjson zlib zstd 'toml++'; do
    grep -qiF -- "$name" "$file" || missing+=" $name"
  done
  is "copyright names every library inside" "$missing" ""
  # Every licence that is named has its text.
  is "copyright: texts of all licences" \
    "$(awk '/^Files:/ { inside = 1 } /^License:/ && inside { print; inside = 0 }' "$file" | sort -u)" \
    "$(awk '/^Files:/ { inside = 1 } /^License:/ { if (!inside) print; inside = 0 }' "$file" | sort -u)"
}

check_program() {
  local root=$1 program=$1/usr/bin/vramscope other
  if command -v readelf >/dev/null; then
    is "no symbols" "$(readelf -SW "$program" | grep -c '\.symtab\|\.debug_')" 0
    other=$(readelf -dW "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
      grep -vxE 'lib(c|m|stdc\+\+|gcc_s)\.so\.[0-9]+|ld-linux.*')
    is "needs the C and C++ libraries alone" "$other" ""
  else
    left_out "readelf is not installed"
  fi
  if [ "$(dpkg --print-architecture)" != "$(field Architecture)" ]; then
    left_out "a program of another architecture cannot be run"
    return
  fi
  is "vramscope --version" "$("$program" --version)" "vramscope $(field Version)"
  check "vramscope status" "$program" status --device sim:healthy --json
  is "manual page is the program's" "$(zcat "$root/usr/share/man/man1/vramscope.1.gz")" \
    "$("$program" --lang en help --man)"
  is "bash completion is the program's" "$(cat "$root/usr/share/bash-completion/completions/vramscope")" \
    "$("$program" --lang en help --completion bash)"
  if command -v man >/dev/null; then
    is "man formats the page silently" "$(MANWIDTH=80 man --warnings -l "$root/usr/share/man/man1/vramscope.1.gz" \
      2>&1 >/dev/null)" ""
    check "man formats the Chinese page" bash -c \
      "MANWIDTH=80 man -l '$root/usr/share/man/zh_CN/man1/vramscope.1.gz' 2>/dev/null | grep -q vramscope"
  else
    left_out "man is not installed"
  fi
}

# What lintian calls an error is one; the rest is shown. That libraries are inside the program is meant so.
check_lintian() {
  if ! command -v lintian >/dev/null; then left_out "lintian is not installed"; return; fi
  local said
  said=$(lintian --allow-root --no-cfg --suppress-tags embedded-library,debian-changelog-line-too-long "$package" 2>&1)
  is "lintian finds no errors" "$(grep '^E:' <<<"$said")" ""
  grep -v '^E:' <<<"$said" | sed '/^$/d; s/^/      /'
}

# --- a fresh root -----------------------------------------------------------------------------------------------

# Every file but what dpkg and man-db write for themselves.
files_of() {
  find "$1" -xdev \( -path "$1/proc" -o -path "$1/sys" -o -path "$1/dev" -o -path "$1/var/log" -o -path "$1/var/cache" \
    -o -path "$1/tmp" \) -prune -o ! -path "$1/var/lib/dpkg/*-old" ! -path "$1/var/lib/dpkg/lock*" \
    ! -path "$1/var/lib/dpkg/triggers/*" -printf '%y %m %P %l\n' | sort
}

check_fresh_root() {
  local root=${VRAMSCOPE_FRESH_ROOT:-}
  if [ -z "$root" ]; then left_out "VRAMSCOPE_FRESH_ROOT is not set: nothing was installed"; return; fi
  if [ "$(id -u)" -ne 0 ]; then left_out "root alone can install into a fresh root"; return; fi
  if [ "$root" = debootstrap ]; then
    if ! command -v debootstrap >/dev/null; then left_out "debootstrap is not installed"; return; fi
    root=$scratch/fresh
    check "debootstrap" debootstrap --variant=minbase bookworm "$root"
  fi
  [ -x "$root/usr/bin/dpkg" ] || { bad "$root is no Debian root"; return; }
  if chroot "$root" dpkg -s vramscope >/dev/null 2>&1; then bad "$root has the package already"; return; fi
  local before=$scratch/before after=$scratch/after status=$root/var/lib/dpkg/status
  cp "$package" "$root/tmp/vramscope.deb"
  cp "$status" "$scratch/status"
  files_of "$root" >"$before"
  check "dpkg -i" chroot "$root" dpkg -i /tmp/vramscope.deb
  is "installed whole" "$(chroot "$root" dpkg -V vramscope 2>&1 | grep -vE '/usr/share/(doc|man)/')" ""
  is "runs in the fresh root" "$(chroot "$root" vramscope --version 2>&1)" "vramscope $(field Version)"
  check "looks at a scenario there" chroot "$root" vramscope status --device sim:leak --json
  if [ -x "$root/usr/bin/man" ] && [ -e "$root/usr/share/man/man1/vramscope.1.gz" ]; then
    check "man finds the page there" bash -c "chroot '$root' man vramscope 2>/dev/null | grep -q 'GPU memory check'"
  else
    left_out "the fresh root has no man, or keeps no manual pages"
  fi
  check "dpkg -r" chroot "$root" dpkg -r vramscope
  rm -f "$root/tmp/vramscope.deb"
  files_of "$root" >"$after"
  is "leaves nothing behind" "$(diff "$before" "$after")" ""
  is "dpkg knows it no more" "$(diff <(sort "$scratch/status") <(sort "$status"))" ""
}

check_control
check_files
check_lintian
check_fresh_root
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
