"""`keyhaven`: one command, from any folder, which names what is meant and what is missing."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from infra.bundle import interpreter
from infra.command_line import completing
from infra.command_line.tree import KEYHAVEN, commands, groups
from infra.commands.run import parser
from infra.installed import ROOT, load

KEYHAVEN_HERE = "from infra.command_line.entry import keyhaven; keyhaven()"
"""What the installed script does."""
EVERY_COMMAND = dict(commands(KEYHAVEN, "keyhaven"))


@cache
def installed():
    """A folder with what the installed script can import of ours: what the project declares."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    links = TemporaryDirectory()
    for name in (*declared["packages"], *(f"{each}.py" for each in declared["py-modules"])):
        Path(links.name, name).symlink_to(ROOT / name)
    return links


def given(folder, *words, options=(), **environment):
    """Exit code, output and errors of the command, given in a folder."""
    done = subprocess.run(
        [sys.executable, *options, "-c", KEYHAVEN_HERE, *words],
        cwd=folder,
        env={"PYTHONPATH": installed().name, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def keyhaven(capsys):
    """Gives words in this process; the exit code and what was shown, errors last."""
    entry = import_module("infra.command_line.entry")

    def give(*words):
        with pytest.raises(SystemExit) as ended:
            entry.keyhaven(words)
        shown = capsys.readouterr()
        return ended.value.code, shown.out + shown.err

    return give


def test_what_is_installed_is_this_command():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    module, _, function = project["project"]["scripts"]["keyhaven"].partition(":")

    assert getattr(import_module(module), function) is import_module(module).keyhaven
    assert "$(BIN)/keyhaven" in (ROOT / "Makefile").read_text()


@pytest.mark.parametrize("name", EVERY_COMMAND)
def test_every_command_has_its_module(name):
    module = load(EVERY_COMMAND[name].module)

    assert parser(name, module).format_help().startswith(f"usage: {name} ")
    assert callable(module.run)


@pytest.mark.parametrize("words", [("--help",), ("infra", "deploy", "--help"), ("serve", "-h")])
def test_help_is_the_same_in_every_folder(words, tmp_path):
    here, there = given(ROOT, *words), given(tmp_path, *words)

    assert here == there
    assert here[0] == 0
    assert here[1].startswith("usage: keyhaven")


def test_outside_of_its_environment_it_says_what_to_do(tmp_path):
    code, shown, errors = given(tmp_path, "infra", "status", options=("-S",))

    assert (code, shown, errors.count("\n")) == (2, "", 1)
    assert f"`make -C {ROOT} build`" in errors
    assert f"{ROOT}/.venv/bin/keyhaven" in errors


@pytest.mark.parametrize("version", [(3, 10), (3, 13)])
def test_another_python_is_one_sentence(version, monkeypatch, keyhaven):
    """PGPy does not import on 3.13: that would be the trace."""
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))

    code, shown = keyhaven("infra", "status")

    assert code == 2
    assert shown.startswith(
        f"Keyhaven needs Python 3.12 or 3.11, and this is Python 3.{version[1]}"
    )
    assert shown.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sevre",), "There is no command 'sevre'. Do you mean serve?"),
        (("infra", "relase"), "There is no command 'relase'. Do you mean release?"),
        (("deploy", "acme"), "There is no command 'deploy'. Do you mean `keyhaven infra deploy`?"),
        (("infra", "xyz"), "There are break-glass, build, check, "),
        (("infra", "onboard", "acme", "--adnim", "x"), "--adnim. Do you mean --admin?"),
        (("infra", "deploy", "--dry"), "There is no option --dry. Do you mean --dry-run?"),
        (("infra", "deploy", "--alarm-adress=x"), "--alarm-adress. Do you mean --alarm-address?"),
        (("serve", "--prot", "1"), "There is no option --prot. Do you mean --port?"),
        (("--dry-run", "infra", "deploy"), "Options follow the command."),
        (("infra",), "COMMAND"),
        ((), "COMMAND"),
        (("infra", "onboard", "acme", "--tier", "gold"), "'premium', 'standard', 'trial'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_misspelt_word_names_the_nearest_right_one(words, said, keyhaven):
    code, shown = keyhaven(*words)

    assert code == 2
    assert said in shown
    assert " --help` tells what it takes." in shown


def begun(folder, *words, before="", **streams):
    """The command, at work in a folder."""
    return subprocess.Popen(
        [sys.executable, "-c", f"{before}{KEYHAVEN_HERE}", *words],
        cwd=folder,
        env={"PYTHONPATH": installed().name, "PYTHONIOENCODING": "ascii"},
        stderr=subprocess.PIPE,
        text=True,
        **streams,
    )


def test_what_is_ended_from_the_keyboard_says_so_in_a_line(tmp_path):
    """A template that comes from somebody who writes nothing is waited for."""
    os.mkfifo(tmp_path / "platform.json")
    handled = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    process = begun(tmp_path, "infra", "plan", "--against", ".", before=handled)

    with (tmp_path / "platform.json").open("w"):  # which waits until it is read
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()

    assert (process.returncode, errors) == (
        130,
        "Ended from the keyboard; it can be given again.\n",
    )


@pytest.mark.parametrize(
    "words", [("--help",), ("infra", "cost"), ("infra", "build", "--dry-run")], ids=" ".join
)
def test_what_nobody_reads_to_its_end_ends_without_a_word(words, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)

    process = begun(tmp_path, *words, stdout=writing)
    os.close(writing)
    _, errors = process.communicate()

    assert (process.returncode, errors) == (0, "")


def test_what_shows_more_than_is_read_ends_as_by_the_signal(tmp_path):
    """It was not done to its end. A line is flushed before anything is built."""
    reading, writing = os.pipe()
    os.close(reading)

    process = begun(tmp_path, "infra", "build", "--folder", "made", stdout=writing)
    os.close(writing)
    _, errors = process.communicate()

    assert (process.returncode, errors) == (141, "")
    assert list((tmp_path / "made").iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk of no room")
@pytest.mark.parametrize(
    "words", [("--help",), ("infra", "cost"), ("infra", "build", "--folder", "made")], ids=" ".join
)
def test_a_full_disk_is_one_line(words, tmp_path):
    with Path("/dev/full").open("w") as full:
        process = begun(tmp_path, *words, stdout=full)
        _, errors = process.communicate()

    assert (process.returncode, errors) == (
        1,
        "Not all could be written: No space left on device.\n",
    )


def test_letters_that_the_screen_does_not_have_are_left_out(tmp_path):
    process = begun(tmp_path, "infra", "build", "--folder", "für", "--dry-run", stdout=-1)
    shown, errors = process.communicate()

    assert (process.returncode, errors) == (0, "")
    assert shown == "Would write code.zip, layer.zip and the templates into f?r/.\n"


@pytest.mark.skipif(interpreter.find() is None, reason="Python 3.12 makes layers, and is not here")
def test_a_build_that_is_cut_short_leaves_the_earlier_archives(tmp_path):
    """Without an index there is nothing to make the layer from."""
    for archive in ("code.zip", "layer.zip"):
        (tmp_path / archive).write_text("earlier")

    code, _, errors = given(ROOT, "infra", "build", "--folder", str(tmp_path), PIP_NO_INDEX="1")

    assert (code, "This has failed, and said why: " in errors) == (1, True)
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {
        "code.zip": "earlier",
        "layer.zip": "earlier",
    }


def test_a_value_after_two_hyphens_is_no_option(keyhaven):
    code, shown = keyhaven("infra", "plan", "--", "--tenant")

    assert code == 2
    assert "a tenant's name is" in shown


COMPLETED = [
    ("keyhaven ", {"serve", "infra", "completion", "--help"}),
    ("keyhaven infra onb", {"onboard"}),
    ("keyhaven infra onboard acme --ti", {"--tier"}),
    ("keyhaven infra onboard acme --tier ", {"premium", "standard", "trial"}),
    ("keyhaven infra onboard --tier trial --dialect cl", {"clients"}),
    ("keyhaven infra deploy --folder ", set()),
    ("keyhaven completion ", {"--help", "bash", "zsh"}),
]


def _open(line):
    """A shell tells of a word that is only about to begin as of an empty one."""
    return ' ""' if line.endswith(" ") else ""


@pytest.fixture(scope="module")
def scripts():
    """The script of each shell, as the command prints it."""
    return {shell: given(ROOT, "completion", shell)[1] for shell in completing.SCRIPTS}


def in_shell(shell, script):
    done = subprocess.run([shell], input=script, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [set(line.split()) for line in done.stdout.splitlines()]


def test_bash_completes_commands_options_and_values(scripts):
    asked = [
        f"COMP_WORDS=({line}{_open(line)}); "
        f"COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _keyhaven; echo ${{COMPREPLY[@]}}\n"
        for line, _ in COMPLETED
    ]

    assert in_shell("bash", scripts["bash"] + "\n" + "".join(asked)) == [
        words for _, words in COMPLETED
    ]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_zsh_completes_them_too(scripts):
    """What its completion functions would be told is shown instead."""
    shown = "compdef() { :; }; compadd() { shift; print -- $*; }; _files() { print; }\n"
    asked = [f"words=({line}{_open(line)}); CURRENT=$#words; _keyhaven\n" for line, _ in COMPLETED]

    told = in_shell("zsh", shown + scripts["zsh"] + "\n" + "".join(asked))

    assert all(words <= found for (_, words), found in zip(COMPLETED, told, strict=True))


def test_every_command_is_completed(scripts):
    for name in (*EVERY_COMMAND, *dict(groups(KEYHAVEN, "keyhaven"))):
        assert f"'{name}')" in scripts["bash"]


def test_what_is_deployed_can_be_imported_from_any_folder(tmp_path):
    """The checks of a build look for the module that each function calls."""
    told = "import importlib.util as util; print(util.find_spec('app').origin)"
    done = subprocess.run(
        [sys.executable, "-c", told],
        cwd=tmp_path,
        env={"PYTHONPATH": installed().name},
        capture_output=True,
        text=True,
        check=True,
    )

    assert Path(done.stdout.strip()).resolve() == ROOT / "app.py"


def test_it_serves_from_any_folder_with_options_instead_of_an_environment(tmp_path):
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", KEYHAVEN_HERE, "serve", "--port", "0"),
            *("--data", "kept", "--dialect", "clients"),
        ],
        cwd=tmp_path,
        env={"PYTHONPATH": installed().name, "DIALECT": "specification"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said = next(line for line in process.stdout if "Ctrl-C" in line)
    finally:
        process.terminate()
        process.communicate()

    assert "Dialect: clients." in said
    assert (tmp_path / "kept" / "tables.db").exists()


PLAIN = re.compile(r"keyhaven infra ([a-z][^`#\n)|;]*)")
"""A command as a page has it, without what stands for anything."""


def commands_of(page):
    for line in PLAIN.findall((ROOT / "docs" / page).read_text()):
        if not re.search("…|NAME|TENANT|FOLDER", line):
            yield shlex.split(re.sub("<[^>]+>", "2026-11-20", _named(line)))


def _named(line):
    return line.replace("<account>", "123456789012").partition(" > ")[0].rstrip().rstrip("\\")


@pytest.mark.parametrize("page", ["operations.md", "deploying.md"])
def test_each_command_that_a_page_gives_is_one(page):
    given = list(commands_of(page))
    assert len(given) > 10

    for name, *words in given:
        place = EVERY_COMMAND[f"keyhaven infra {name}"]
        parser(name, load(place.module)).read(words)
