#!/usr/bin/env bash
# Checks of the sources that need no build. The last line counts them: "N passed, N failed".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${PYTHON:-python3}
passed=0 failed=0

# check NAME COMMAND…: prints the command's output only when it fails.
check() {
  local name=$1 output; shift
  if output=$("$@" 2>&1); then
    passed=$((passed + 1)); echo "ok    $name"
  else
    failed=$((failed + 1)); echo "FAIL  $name"; echo "$output"
  fi
}

files() {  # files SUFFIX…
  local names=(-name "*.$1"); shift
  for suffix in "$@"; do names+=(-o -name "*.$suffix"); done
  find src tests fuzz bench examples tools cmake -path bench/data -prune -o -type f \( "${names[@]}" \) -print
}

format() { files cpp h | xargs clang-format --dry-run -Werror; }
catalogues() { for file in po/*.po; do msgfmt --check --output-file=/dev/null "$file" || return 1; done; }
file_length() {
  files cpp h py sh cmake | xargs wc -l |
    awk '$2 != "total" && $1 > 800 { print $2 ": " $1 " lines, at most 800"; long = 1 } END { exit long }'
}
shell_syntax() { for file in dev .ci/run $(files sh); do bash -n "$file" || return 1; done; }
python_syntax() {
  files py | "$python" -c 'import ast, sys; [ast.parse(open(name.strip()).read(), name) for name in sys.stdin]'
}
# The binary must start on a bare machine: glibc alone. Only where one was built.
shared_libraries() {
  [ -x build/vramscope ] || return 0
  ! ldd build/vramscope | grep -vE 'linux-vdso|ld-linux|lib(c|m|pthread|dl|rt)\.so'
}

check "format (clang-format)" format
check "levels (tools/check_layers.py)" "$python" tools/check_layers.py
check "catalogues (msgfmt)" catalogues
check "catalogues (tools/check_catalogue.py)" "$python" tools/check_catalogue.py
check "documents (tools/check_docs.py)" "$python" tools/check_docs.py
check "file length" file_length
check "shell syntax" shell_syntax
check "python syntax" python_syntax
check "shared libraries" shared_libraries
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
