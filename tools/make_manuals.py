#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the manual pages of the aton command and its completions for bash, zsh and fish, from what `--help` prints.

usage: make_manuals.py --aton PROGRAM --output FOLDER

The folder gets share/man/man1/aton.1, aton-export.1 and so on, share/bash-completion/completions/aton,
share/zsh/site-functions/_aton and share/fish/vendor_completions.d/aton.fish.
"""

import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys

# The values of options that are words. The help says what each of them does: "embed: in the .onnx file; external: ...".
WORD_TYPE, FILE_TYPE, FOLDER_TYPE = "WORD", "FILE", "FOLDER"
OPTION = re.compile(r"  (?:(-\w),)?(--[\w-]+)(?: (\S.*?))?(?:  +(\S.*))?")
POSITIONAL = re.compile(r"  ([A-Z][\w.]*(?:\(\w+\))?)(?: (TEXT))?(?: (\.\.\.))?(?: (REQUIRED))?(?: +(\S.*))?")
SUBCOMMAND = re.compile(r"  (\w[\w-]*)  +(\S.*)")
COLUMN = 30  # of descriptions


@dataclasses.dataclass
class Option:
    short: str
    long: str
    value: str  # "FILE", or "" of a flag
    limits: str  # "in [7 - 28]"
    default: str
    words: list
    text: str


@dataclasses.dataclass
class Command:
    name: str  # "" of aton itself
    text: str
    usage: str
    positionals: list = dataclasses.field(default_factory=list)  # (name, text)
    options: list = dataclasses.field(default_factory=list)
    subcommands: list = dataclasses.field(default_factory=list)  # (name, text)
    footer: str = ""

    @property
    def words(self):
        return f"aton {self.name}".strip()

    @property
    def page(self):
        return self.words.replace(" ", "-")


def value_of(spec):
    """("FILE", limits, default, words) of a column such as "INT:INT in [7 - 28]=20" or "TEXT:{text,json}=text"."""
    spec = re.sub(r" (?:\.\.\.|REQUIRED|Needs: .*|Excludes: .*)", "", spec or "")
    spec, _, default = spec.partition("=") if re.search(r"[\w}\]]=", spec) and not spec.startswith(("INPUT:", "OLD=")) else (spec, "", "")
    words = re.search(r"\{([^}]*)\}", spec)
    limits = re.search(r"in \[[^]]*\]", spec)
    name = spec if spec.startswith(("INPUT:", "NAME:DTYPE", "OLD=")) else spec.split(":")[0]
    return name.strip(), limits[0] if limits else "", default, words[1].split(",") if words else []


def words_of(text):
    """The words that a description explains: "embed: in the file; external: beside it" has embed and external."""
    return re.findall(r"(?:^|[.;] )([a-z][a-z-]*): ", text)


def parse_option(line, following):
    match = OPTION.fullmatch(line)
    if not match:
        sys.exit(f"make_manuals.py: no option: {line!r}")
    short, long, spec, text = match.groups()
    text = text or following
    value, limits, default, words = value_of(spec)
    if not words and (value == WORD_TYPE or value == "TEXT"):
        words = words_of(text) if value == WORD_TYPE else []
        if value == WORD_TYPE and not words:
            words = re.findall(r"[a-z]+", text.replace(" or ", ", "))
    return Option(short or "", long, value, limits, default, words, text)


def parse(name, help_text):
    lines = help_text.splitlines()
    command = Command(name, lines[0], lines[1].removeprefix("Usage: "))
    section = ""
    # A description on a line of its own belongs to the line before it.
    joined = []
    for line in lines[2:]:
        if line.startswith(" " * COLUMN) and joined:
            joined[-1] = (joined[-1][0], line.strip())
        else:
            joined.append((line, ""))
    for line, following in joined:
        if not line.startswith(" "):
            section = line.rstrip(":") if line.endswith(":") else section
            if line and not line.endswith(":") and not line.startswith("["):
                command.footer = line
        elif line.endswith("Options:"):  # those of a group, whose title is the section
            continue
        elif section == "Subcommands":
            command.subcommands.append(SUBCOMMAND.fullmatch(line).groups())
        elif section == "Positionals":
            match = POSITIONAL.fullmatch(line)
            command.positionals.append((match[1], match[5] or following))
        else:
            command.options.append(parse_option("  " + line.strip(), following))
    return command


def read_commands(aton):
    def help_of(*words):
        return subprocess.run([aton, *words, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout

    main = parse("", help_of())
    commands = [main]
    for name, _ in main.subcommands:
        try:
            commands.append(parse(name, help_of(name)))
        except subprocess.CalledProcessError:  # aton-verify is not built without the runtime
            if name != "verify":
                raise
    main.subcommands = [(name, text) for name, text in main.subcommands if name in {c.name for c in commands}]
    return commands


# Manual pages.


def roff(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def manual(command, commands, version):
    title = command.page.upper()
    out = [f'.TH {roff(title)} 1 "" "aton {version}" "Aton"', ".SH NAME", f"{roff(command.page)} \\- {roff(command.text[:1].lower() + command.text[1:] if command.name else command.text)}"]  # fmt: skip
    out += [".SH SYNOPSIS", f".B {roff(command.words)}", roff(command.usage.removeprefix(command.words).strip())]
    if command.subcommands:
        out.append(".SH COMMANDS")
        for name, text in command.subcommands:
            out += [".TP", f".B {roff(name)}", roff(text) + f", see \\fBaton\\-{roff(name)}\\fR(1)."]
    if command.positionals:
        out.append(".SH ARGUMENTS")
        for name, text in command.positionals:
            out += [".TP", f".I {roff(name)}", roff(text)]
    out.append(".SH OPTIONS")
    for option in command.options:
        names = ", ".join(f"\\fB{roff(n)}\\fR" for n in (option.short, option.long) if n)
        out += [".TP", names + (f" \\fI{roff(option.value)}\\fR" if option.value else ""), roff(option.text)]
        facts = [f"a number {option.limits}" if option.limits else "", f"default: {option.default}" if option.default else ""]
        if any(facts):
            out += [".br", roff("(" + "; ".join(filter(None, facts)) + ")")]
    if command.footer:
        status = command.footer.removeprefix("Exit status: ")
        out += [".SH EXIT STATUS", roff(status)]
    others = [c for c in commands if c is not command]
    out += [".SH SEE ALSO", ", ".join(f"\\fB{roff(c.page)}\\fR(1)" for c in others)]
    return "\n".join(out) + "\n"


# Completions.


def names_of(option):
    return [n for n in (option.short, option.long) if n]


def values_of(option):
    """What follows the option: "files", "folders", words, or None if nothing can be suggested."""
    if option.words:
        return option.words
    return {FILE_TYPE: "files", FOLDER_TYPE: "folders"}.get(option.value)


def bash(commands):
    main = commands[0]
    subcommands = " ".join(name for name, _ in main.subcommands)
    cases = []
    for command in commands:
        name = command.name or "''"
        options = " ".join(n for option in command.options for n in names_of(option))
        values = []
        for option in command.options:
            what = values_of(option)
            if option.value:
                action = {None: "COMPREPLY=()", "files": "mapfile -t COMPREPLY < <(compgen -f -- \"$word\")", "folders": "mapfile -t COMPREPLY < <(compgen -d -- \"$word\")"}.get(what if isinstance(what, str) or what is None else "")  # fmt: skip
                action = action or f"mapfile -t COMPREPLY < <(compgen -W '{' '.join(what)}' -- \"$word\")"
                values.append(f"                {'|'.join(names_of(option))}) {action}; return ;;")
        cases.append("\n".join([f"        {name})", '            case "$before" in', *values, "            esac", f"            options='{options}' ;;"]))  # fmt: skip
    body = "\n".join(cases)
    return f"""# Completions of the aton command for bash, made by tools/make_manuals.py.
_aton() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="" command="" options="" i
    [ "$COMP_CWORD" -gt 0 ] && before="${{COMP_WORDS[COMP_CWORD - 1]}}"
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case "${{COMP_WORDS[i]}}" in -*) ;; *) command="${{COMP_WORDS[i]}}"; break ;; esac
    done
    compopt -o filenames 2>/dev/null
    case "$command" in
{body}
    esac
    if [[ "$word" == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    elif [ -z "$command" ]; then
        mapfile -t COMPREPLY < <(compgen -W '{subcommands}' -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}}
complete -F _aton aton
"""


def zsh(commands):
    quoted = lambda text: text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    main = commands[0]
    listed = "\n".join(f"        '{name}:{quoted(text)}'" for name, text in main.subcommands)
    cases = []
    for command in commands[1:]:
        specs = []
        for option in command.options:
            names = names_of(option)
            head = f"'({' '.join(names)})'{{{','.join(names)}}}'" if len(names) > 1 else f"'*{names[0]}" if "may be repeated" in option.text else f"'{names[0]}"  # fmt: skip
            what = values_of(option)
            action = ""
            if option.value:
                kinds = {None: " ", "files": "_files", "folders": "_files -/"}
                suggested = kinds[what] if isinstance(what, str) or what is None else f"({' '.join(what)})"
                action = f":{quoted(option.value)}:{suggested}"
            specs.append(f"            {head}[{quoted(option.text)}]{action}'")
        specs.append("            '*:file:_files'")
        cases.append(f"        {command.name}) _arguments \\\n" + " \\\n".join(specs) + " ;;")
    body = "\n".join(cases)
    return f"""#compdef aton
# Completions of the aton command for zsh, made by tools/make_manuals.py.
_aton() {{
    local -a commands
    commands=(
{listed}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command="$words[2]"
    shift words
    (( CURRENT-- ))
    case "$command" in
{body}
    esac
}}
_aton "$@"
"""


def fish(commands):
    quoted = lambda text: "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    main = commands[0]
    names = " ".join(name for name, _ in main.subcommands)
    out = ["# Completions of the aton command for fish, made by tools/make_manuals.py."]
    for name, text in main.subcommands:
        out.append(f"complete -c aton -n 'not __fish_seen_subcommand_from {names}' -f -a {name} -d {quoted(text)}")
    for command in commands:
        condition = f"__fish_seen_subcommand_from {command.name}" if command.name else f"not __fish_seen_subcommand_from {names}"
        for option in command.options:
            line = f"complete -c aton -n '{condition}' -l {option.long.removeprefix('--')}"
            if option.short:
                line += f" -s {option.short[1:]}"
            what = values_of(option)
            if option.value:
                line += " -r" if isinstance(what, str) else " -x"
                if what is not None and not isinstance(what, str):
                    line += f" -a '{' '.join(what)}'"
            out.append(f"{line} -d {quoted(option.text)}")
    return "\n".join(out) + "\n"


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", required=True, help="the aton command")
    parser.add_argument("--output", required=True, type=pathlib.Path, help="the folder to write to")
    arguments = parser.parse_args()
    commands = read_commands(arguments.aton)
    version = subprocess.run([arguments.aton, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[1]
    for command in commands:
        write(arguments.output, f"share/man/man1/{command.page}.1", manual(command, commands, version))
    write(arguments.output, "share/bash-completion/completions/aton", bash(commands))
    write(arguments.output, "share/zsh/site-functions/_aton", zsh(commands))
    write(arguments.output, "share/fish/vendor_completions.d/aton.fish", fish(commands))


if __name__ == "__main__":
    main()
