"""Scripts for shells: they know all words, so completing starts no Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

Words = Sequence[str]
"""What may come next; nothing where it is a file, or a word of one's own."""


def bash(words: Mapping[str, Words]) -> str:
    return f"""{_known(words)}
_keyhaven() {{
    local place=keyhaven next word
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        _keyhaven_words "$place $word" && [[ $word != -* ]] && place="$place $word"
    done
    _keyhaven_words "$place ${{COMP_WORDS[COMP_CWORD-1]}}" || _keyhaven_words "$place"
    COMPREPLY=($(compgen -W "$next" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _keyhaven keyhaven"""


def zsh(words: Mapping[str, Words]) -> str:
    return f"""{_known(words)}
_keyhaven() {{
    local place=keyhaven next word
    for word in "${{(@)words[2,CURRENT-1]}}"; do
        _keyhaven_words "$place $word" && [[ $word != -* ]] && place="$place $word"
    done
    _keyhaven_words "$place $words[CURRENT-1]" || _keyhaven_words "$place"
    if [[ -n $next ]]; then compadd -- ${{=next}}; else _files; fi
}}
compdef _keyhaven keyhaven"""


SCRIPTS: Mapping[str, Callable[[Mapping[str, Words]], str]] = {"bash": bash, "zsh": zsh}


def _known(words: Mapping[str, Words]) -> str:
    """A function of both shells: sets `next` to what may come at a place, and fails elsewhere."""
    cases = [f"        '{place}') next='{' '.join(after)}' ;;" for place, after in words.items()]
    return "\n".join(
        [
            "_keyhaven_words() {",
            '    case "$1" in',
            *cases,
            "        *) next=; return 1 ;;",
            "    esac",
            "}",
        ]
    )
