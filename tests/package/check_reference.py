#!/usr/bin/env python3
"""Checks what is made from the command line's own tables: the manual page, the completions for bash, zsh and fish,
the page of `vramscope help`, docs/reference. A shell or a formatter that is not installed is left out and named.

usage: VRAMSCOPE=build/vramscope check_reference.py [--update]      --update rewrites docs/reference
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("VRAMSCOPE", ROOT / "build" / "vramscope")).resolve()
PAGES = {"en": ROOT / "docs" / "reference" / "vramscope.md", "zh": ROOT / "docs" / "reference" / "vramscope.zh-CN.md"}

# Lines typed so far, and what must be among the offers, as the shell would put them in place of the last word.
LINES = (
    ("vramscope sta", {"status"}),
    ("vramscope --dev", {"--device"}),
    ("vramscope status --device sim:le", {"sim:leak"}),
    ("vramscope status --device=sim:le", {"--device=sim:leak"}),
    ("vramscope status --format ", {"text", "json"}),
    ("vramscope watch --replay ru", {"run.vrs"}),
    ("vramscope watch --replay=ru", {"--replay=run.vrs"}),
    ("vramscope watch --alert 'memory.used > 90%' ec", {"echo"}),
    ("vramscope watch echo ru", {"run.vrs"}),
    ("vramscope ops ru", {"run.vrs"}),
    ("vramscope ops run.vrs --sort self_cuda_m", {"self_cuda_memory_usage"}),
    ("vramscope smi --query-g", {"--query-gpu="}),
    ("vramscope smi --query-gpu=memory.us", {"--query-gpu=memory.used"}),
    ("vramscope smi --query-gpu=name,memory.us", {"--query-gpu=name,memory.used"}),
    ("vramscope help dia", {"diagnose"}),
    ("vramscope alerts te", {"test"}),
)
NEVER = {"vramscope status --fail-on ": "run.vrs", "vramscope diagnose --": "--sort", "vramscope st": "memory"}

problems = []


def check(what, holds, detail=""):
    if not holds:
        problems.append(f"{what} {detail}".rstrip())


def run(*arguments, **options):
    environment = dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="100")
    environment.pop("LANGUAGE", None)
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=True,
                          stdin=subprocess.DEVNULL, env=environment, **options).stdout


def verbs():
    listed = run("--help").split("\nVerbs:\n")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z-]+) ", listed, re.M)


def options_of(verb):
    if verb == "smi":
        return []  # nvidia-smi's, listed by itself
    return sorted(set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", run(verb, "--help"), re.M)))


def check_manual(scratch):
    page = run("help", "--man")
    plain = re.sub(r"\\f[BIR]", "", page).replace("\\-", "-")
    for verb in verbs():
        section = re.search(rf'^\.SS "vramscope {verb} .*?(?=^\.S[SH] )', plain, re.M | re.S)
        check(f"manual page: no section of {verb}", section)
        for option in options_of(verb) if section else []:
            check(f"manual page: {verb} has no {option}", option == "--help" or option in section.group(0))
    for word in ("EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "NO_COLOR", "VRAMSCOPE_NVML", "config.toml"):
        check("manual page: misses", word in plain, word)
    path = scratch / "vramscope.1"
    path.write_text(page, encoding="utf-8")
    for tool in (["groff", "-ww", "-man", "-k", "-Tutf8", "-z"], ["mandoc", "-T", "lint", "-W", "warning"]):
        if not shutil.which(tool[0]):
            print(f"left out: {tool[0]} is not installed")
            continue
        done = subprocess.run([*tool, path], capture_output=True, text=True, timeout=60, check=False)
        said = [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line]
        check(f"manual page: {tool[0]}:", not said, "\n  ".join(said[:5]))


def check_help():
    table = run("help")
    for verb in verbs():
        check(f"`vramscope help` does not show {verb}", re.search(rf"\bvramscope( help)? {verb}\b", table)
              or verb == "help")
    for line in re.findall(r"^ {6}(vramscope .*)$", table, re.M):
        words = shlex.split(line)
        verb = words[1]
        check(f"`vramscope help` shows an unknown verb: {line}", verb in verbs())
        for option in re.findall(r" (--[a-z-]+)", line) if verb != "smi" else []:
            check(f"`vramscope help`: {verb} has no {option}", option in options_of(verb))


BASH = r"""
source "$1"
shopt -u hostcomplete
COMP_LINE=$2 COMP_POINT=${#2}
COMP_WORDS=("${@:3}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_vramscope
printf '%s\n' "${COMPREPLY[@]}"
"""


def readline_words(line):
    """The line as readline splits it: "=" and ":" outside of quotes are words of their own, quotes stay."""
    words = re.findall(r"""[=:]+|(?:'[^']*'|[^\s=:'])+""", line)
    return words + [""] if line.endswith(" ") or words[-1] in ("=", ":") else words


def bash_offers(script, line, scratch):
    words = readline_words(line)
    done = subprocess.run(["bash", "--norc", "-c", BASH, "bash", script, line, *words], capture_output=True, text=True,
                          cwd=scratch, timeout=60, check=False)
    check(f"bash: {line!r}:", not done.stderr.strip(), done.stderr)
    last = re.search(r"\S*$", line).group(0)  # what stands before the word that readline replaces stays
    stays = last[:len(last) - len(words[-1])] if words[-1] else last
    return {stays + offer for offer in done.stdout.split("\n") if offer}


def fish_offers(script, line, scratch):
    done = subprocess.run(["fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", script, line],
                          capture_output=True, text=True, cwd=scratch, timeout=60, check=False,
                          env=dict(os.environ, HOME=str(scratch)))
    return {offer.split("\t")[0] for offer in done.stdout.splitlines()}


# zsh completes only in its line editor: one runs on a pseudo-terminal, and a function prints what compadd was given.
ZSH = r"""
zmodload zsh/zpty
zpty worker zsh -f -i
send() { zpty -w worker "$1"; }
send 'PS1= PS2= RPS1=; autoload -Uz compinit; compinit -u -D; setopt no_beep; TERM=dumb'
send "source '$1'; cd '$3'"
send 'compadd() {
  if [[ ${@[(I)-[OAD]]} -gt 0 ]]; then builtin compadd "$@"; return; fi
  local -a hits; builtin compadd -A hits "$@"
  for hit in $hits; do print -r -- "OFFER[$IPREFIX$hit]"; done
  builtin compadd "$@"
}'
send "null() { :; }; finish() { print -r -- END''OFFERS; }; zle -N finish; bindkey '^X' finish"
send "zle -C offers complete-word _main_complete; bindkey '^I' offers; print RE''ADY"
local text='' piece
while zpty -r worker piece; do text+=$piece; [[ $piece == *READY* ]] && break; done
zpty -w -n worker "$2"$'\t'$'\x18'
text=''
while zpty -r worker piece; do text+=$piece; [[ $piece == *ENDOFFERS* ]] && break; done
zpty -d worker
print -r -- $text
"""


def zsh_offers(script, line, scratch):
    done = subprocess.run(["zsh", "-f", "-c", "run() { " + ZSH + " }; run \"$@\"", "zsh", script, line, scratch],
                          capture_output=True, text=True, cwd=scratch, timeout=60, check=False, errors="replace",
                          env=dict(os.environ, HOME=str(scratch)))
    return set(re.findall(r"OFFER\[([^\]\r\n]*)\]", done.stdout))


def offered(shell, line, wanted, offers):
    """zsh and fish may offer the value alone behind "--option=" or a comma."""
    if wanted in offers:
        return True
    return shell != "bash" and any(re.sub(r"^.*[=,]", "", wanted) == re.sub(r"^.*[=,]", "", offer) for offer in offers
                                   if re.sub(r"^.*[=,]", "", offer))


def check_completion(shell, offers_of, scratch):
    if not shutil.which(shell):
        print(f"left out: {shell} is not installed")
        return
    script = scratch / f"completion.{shell}"
    script.write_text(run("help", "--completion", shell), encoding="utf-8")
    syntax = subprocess.run([shell, "-n", script], capture_output=True, text=True, timeout=60, check=False)
    check(f"{shell}: syntax:", syntax.returncode == 0 and not syntax.stderr, syntax.stderr)
    # fish is offered the options of smi alone, not its fields.
    lines = [pair for pair in LINES if shell != "fish" or "--query-gpu=" not in pair[0]]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:  # starting a shell is waiting
        found = list(pool.map(lambda pair: offers_of(script, pair[0], scratch), lines))
    for (line, wanted), offers in zip(lines, found):
        for word in wanted:
            check(f"{shell}: {line!r} does not offer {word}, but", offered(shell, line, word, offers),
                  str(sorted(offers)[:8]))
    for line, word in NEVER.items():
        check(f"{shell}: {line!r} offers {word}", word not in offers_of(script, line, scratch))


def check_page(update):
    for language, path in PAGES.items():
        page = run("--lang", language, "help", "--reference")
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page, encoding="utf-8")
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        check(f"{path.relative_to(ROOT)} is not what the command line is: run tests/package/check_reference.py --update",
              page == there)


def main():
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        (scratch / "bin").mkdir()
        (scratch / "bin" / "vramscope").symlink_to(PROGRAM)
        (scratch / "run.vrs").write_text("", encoding="utf-8")
        os.environ["PATH"] = f"{scratch / 'bin'}:{os.environ['PATH']}"
        check_manual(scratch)
        check_help()
        check_completion("bash", bash_offers, scratch)
        check_completion("zsh", zsh_offers, scratch)
        check_completion("fish", fish_offers, scratch)
    check_page("--update" in sys.argv[1:])
    print("\n".join(problems) if problems else "manual page, completions, help and docs/reference: as the command line")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
