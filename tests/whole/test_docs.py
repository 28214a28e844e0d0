"""Does every example in the README and the docs still work?

A page is run from top to bottom in an empty folder of its own:

* ``console`` blocks: each line that begins with ``$`` is given to bash (lines that begin with ``>`` continue it). It
  must end with exit code 0, and print what is shown below it, if anything is; ``...`` stands for any text. A plain
  ``surefoot`` command, of which bash would only split the words, is run in this process: starting it anew takes longer
  than most answers. What is done with its answer is left to bash. So is the first command of each block of the README.
* ``python`` blocks with ``>>>``: a doctest. The blocks of a page share their names and the page's folder.
* ``{code-block}`` with a caption: written to the file of that name, for the blocks after it.
* A comment ``<!-- not run: the reason -->`` before a block leaves it out; ``<!-- needs: module, module -->`` anywhere
  skips the page where a module is not installed.

Other languages are only shown. A block without a language is refused, as are Python and commands that nothing runs.
"""

from __future__ import annotations

import contextlib
import doctest
import html
import importlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from surefoot import _moved
from surefoot.cli.main import run

ROOT = Path(__file__).parents[2]
GENERATED = {"docs/reference/commands-help.md", "docs/notebooks/first-look.md"}
MADE_WITH_THE_SITE = (
    "docs/reference/commands-help.md",
    "docs/notebooks/first-look.md",
    "docs/generated/coverage.svg",
)  # `make docs` follows these
GALLERY = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
DRAWN = {
    *(f"docs/generated/gallery/{name}.svg" for name in re.findall(r'savefig\("([\w-]+)\.svg"\)', GALLERY)),
    *(f"docs/generated/gallery/card-{name}.svg" for name in ("measure", "compare", "rank")),
}  # `make docs` draws these
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if "_build" not in path.parts and path.relative_to(ROOT).as_posix() not in GENERATED
)
SHOWN = {"text", "toml", "yaml", "json", "csv", "bibtex", "html"}
FENCE = re.compile(r"^(?P<fence>`{3,}|:{3,})(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=fence)[ ]*$", re.MULTILINE | re.DOTALL)
PROGRESS = re.compile(r"^.+: [\d,]+ of [\d,]+\n", re.MULTILINE)  # said only where the machine is slow
USED = re.compile(r"(?P<plain>surefoot [^;|&<>]+?)(?: > (?P<out>\S+))?(?: 2> (?P<err>\S+))?(?:; (?P<next>.+))?")
LONG = {"docs/howto/inspect.md", "docs/tutorials/ci-gate.md", "docs/howto/how-many-rollouts.md"}
LONG |= {"docs/howto/several-robots.md", "docs/howto/rate-in-a-paper.md"}
"""Pages that take many seconds, of programs and plans that tests of their own ask as well."""
LEFT_OUT = re.compile(r"<!-- not run: (?P<reason>\S.*?) -->\s*\Z")


class Block(NamedTuple):
    """One fenced block of a page."""

    line: int
    kind: str
    body: str
    caption: str
    left_out: bool


class Prompt(NamedTuple):
    """A command and what the page shows below it."""

    line: int
    command: str
    shown: str


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page that are code."""
    for found in FENCE.finditer(page):
        info, body, caption = found["info"].strip(), found["body"], ""
        line = page.count("\n", 0, found.start()) + 2
        if info.startswith("{"):
            name, _, language = info[1:].partition("}")
            if name not in ("code-block", "code"):
                continue
            info = language.strip()
            options = re.match(r"(?::[\w-]+:.*\n)*", body)
            named = re.search(r"^:caption: *(.+)$", options.group(), re.MULTILINE) if options else None
            caption = named[1].strip() if named else ""
            body = body[options.end() :].removeprefix("\n") if options else body
        left_out = LEFT_OUT.search(page, 0, found.start()) is not None
        yield Block(line, info, body, caption, left_out)


def prompts(block: Block) -> list[Prompt]:
    """The commands of a console block."""
    found: list[Prompt] = []
    continues = False
    for number, line in enumerate(block.body.splitlines(), block.line):
        if line.startswith("$ "):
            found.append(Prompt(number, line[2:], ""))
            continues = True
        elif continues and (line.startswith("> ") or line == ">"):
            found[-1] = found[-1]._replace(command=f"{found[-1].command}\n{line[2:]}")
        else:
            continues = False
            assert found, f"line {number}: a console block must begin with `$ `"
            found[-1] = found[-1]._replace(shown=f"{found[-1].shown}{line}\n")
    return found


def squeezed(text: str) -> str:
    """Without trailing blanks and empty lines, which a page may leave out."""
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines() if line.strip())


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def words_of(command: str) -> list[str] | None:
    """The words of a command of surefoot that bash would only split; None where it would do more."""
    plain = command.replace("\\\n", " ").strip()
    if not plain.startswith("surefoot ") or re.search(r"[$`*?~{}\n\[]", plain):
        return None
    split = shlex.shlex(plain, posix=True, punctuation_chars=True)
    split.whitespace_split = True
    words = list(split)[1:]
    return None if any(set(word) <= set("();<>|&") for word in words) else words


def in_this_process(words: list[str]) -> Done:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    return Done(code, out.getvalue(), err.getvalue())


def in_bash(command: str, folder: Path) -> Done:
    known = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", command],
        cwd=folder, env=known, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)


def ran(command: str, folder: Path) -> Done:
    """A command, by bash only as far as it is needed."""
    used = USED.fullmatch(command)
    words = words_of(command) or (words_of(used["plain"]) if used else None)
    if words is None:
        return in_bash(command, folder)
    done = in_this_process(words)
    if words_of(command) is None and used:
        if used["out"]:
            (folder / used["out"]).write_text(done.out, encoding="utf-8")
            done = done._replace(out="")
        if used["err"]:
            (folder / used["err"]).write_text(done.err, encoding="utf-8")
            done = done._replace(err="")
        if used["next"]:
            after = in_bash(f"(exit {done.code}); {used['next']}", folder)
            done = Done(after.code, done.out + after.out, done.err + after.err)
    return done


def run_console(block: Block, page: str, folder: Path) -> None:
    for place, prompt in enumerate(prompts(block)):
        done = (in_bash if page == "README.md" and not place else ran)(prompt.command, folder)
        where = f"{page}, line {prompt.line}: $ {prompt.command}"
        printed = squeezed(done.out + PROGRESS.sub("", done.err))
        assert done.code == 0, f"{where}\nended with {done.code}:\n{printed}"
        shown = squeezed(prompt.shown)
        if shown:
            same = doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)
            assert same, f"{where}\nshows:\n{shown}prints:\n{printed}"


def run_python(block: Block, page: str, names: dict[str, object]) -> None:
    example = doctest.DocTestParser().get_doctest(block.body, names, page, page, block.line - 1)
    example.globs = names  # a copy by default: the blocks of a page share theirs
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append, clear_globs=False)
    assert not said, "".join(said)


@pytest.mark.end_to_end
@pytest.mark.parametrize("page", [pytest.param(page, marks=[pytest.mark.slow] * (page in LONG)) for page in PAGES])
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("SUREFOOT", "PYTEST")) and name != "PYTEST_CURRENT_TEST":  # pytest itself removes that one
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")  # what a rollout calls python
    text = (ROOT / page).read_text(encoding="utf-8")
    for needed in re.findall(r"<!-- needs: (.+?) -->", text):
        for module in needed.split(", "):
            pytest.importorskip(module)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(text):
        if block.caption:
            Path(block.caption).parent.mkdir(parents=True, exist_ok=True)
            Path(block.caption).write_text(block.body, encoding="utf-8")
        if block.left_out:
            continue
        if block.kind == "console":
            run_console(block, page, tmp_path)
        elif block.kind == "python" and ">>>" in block.body:
            run_python(block, page, names)
        else:
            runs = block.caption or (block.kind in SHOWN and not re.search(r"^\$ |>>>", block.body, re.MULTILINE))
            assert runs, f"{page}, line {block.line}: nothing runs this {block.kind or 'nameless'} block"


def anchors(page: str) -> set[str]:
    """What a link may point at inside a page: its headings of three levels, as the site names them, and its targets."""
    text = FENCE.sub("", page)
    heads = [re.sub(r"[`*]|\]\(.*?\)", "", head) for head in re.findall(r"(?m)^#{1,3} +(.+?) *$", text)]
    named = [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads]
    return {*named, *re.findall(r"(?m)^\(([\w-]+)\)=$", text)}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page):
    text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    links = [*re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)", text), *re.findall(r'<img src="([^"]+)"', text)]
    for target, _, anchor in (link.partition("#") for link in links):
        path = ((ROOT / page).parent / target).resolve() if target else ROOT / page
        name = path.relative_to(ROOT).as_posix()
        made = name in MADE_WITH_THE_SITE or name in DRAWN
        assert made or path.exists(), f"{page} links to {target}, which is not there"
        if anchor:
            there = anchors(path.read_text(encoding="utf-8"))
            assert anchor in there, f"{page} links to #{anchor} of {name}, which has no such heading"


HOSTS = {
    "127.0.0.1:8765": "the console, on the reader's own machine",
    "lab:8765": "the console, on a machine of the reader's lab",
    "github.com": "openpi, whose server a page explains",
    "joblib.readthedocs.io": "its backends are documented there",
}
"""Where the docs lead besides themselves, and why; whoever adds a link looks at it once."""


def test_links_that_leave_the_docs_are_few_and_known():
    written = " ".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    met = set(re.findall(r"https?://([\w.:-]+[\w])", written))
    assert met == set(HOSTS)


def test_the_anchors_of_a_page():
    page = "# What `x` is: a *word*\n\n(here)=\n```console\n# no heading\n```\n### Two, [three](a.md)\n#### Too deep\n"
    assert anchors(page) == {"what-x-is-a-word", "here", "two-three"}


def test_the_gallery_shows_what_its_lines_draw():
    """Every picture is drawn by the lines above it, and every drawn picture is shown."""
    parts = re.split(r"!\[[^\]]+\]\(generated/gallery/([\w-]+)\.svg\)", GALLERY)
    shown = parts[1::2]
    assert shown == re.findall(r'savefig\("([\w-]+)\.svg"\)', GALLERY)
    assert len(shown) >= 15


def test_the_pictures_of_the_readme_are_small():
    named = re.findall(r'<img src="([^"]+)"', (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(named) >= 3
    assert sum((ROOT / name).stat().st_size for name in named) < 300_000


def test_the_terminal_of_the_readme_types_for_twenty_seconds():
    """As an animation that whoever wants no motion, or prints, sees whole."""
    drawn = (ROOT / "docs" / "pictures" / "terminal.svg").read_text(encoding="utf-8")
    starts = [float(one) for one in re.findall(r"(?:animation-delay:|\) )([\d.]+)s", drawn)]
    assert 10.0 < max(starts) < 20.0
    assert "prefers-reduced-motion" in drawn
    typed = re.findall(r'class="t"[^>]*>\$ (surefoot [^<]+)<', drawn)
    assert len(typed) == 3
    for command in typed:
        said = in_this_process(words_of(command) or []).out
        for line in said.splitlines():
            assert html.escape(line.split(". ")[0][:60]) in drawn, f"`{command}` says another thing now"


def test_the_reader_tells_what_runs_from_what_is_shown():
    page = """```console
$ echo one \\
> two
one two
$ false
```
<!-- not run: it waits -->
```console
$ sleep 9
```
```{code-block} python
:caption: a.py

print(1)
```
"""
    first, second, third = blocks(page)
    assert prompts(first) == [Prompt(2, "echo one \\\ntwo", "one two\n"), Prompt(5, "false", "")]
    assert (first.left_out, second.left_out, second.line) == (False, True, 9)
    assert (third.kind, third.caption, third.body) == ("python", "a.py", "print(1)\n")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("surefoot rate 38/50   # a rate", ["rate", "38/50"]),
        ("surefoot report a.csv \\\n  -o 'b c.html'", ["report", "a.csv", "-o", "b c.html"]),
        ("surefoot study run s.db --command 'a | b; c'", ["study", "run", "s.db", "--command", "a | b; c"]),
        ("surefoot rate 38/50 | head -1", None),
        ("surefoot rate 38/50 2> notes.txt", None),
        ("surefoot serve &", None),
        ("surefoot rate *.csv", None),
        ("surefoot rate $FILE", None),
        ("(surefoot rate 1/2)", None),
        ("head -3 results.csv", None),
    ],
)
def test_only_what_bash_would_merely_split_is_run_without_it(command, words):
    assert words_of(command) == words


@pytest.mark.parametrize(
    "command",
    [
        "surefoot rate 38/50",
        "surefoot rate 38/50 > /dev/null",
        'surefoot rate 9/8 2> notes.txt; echo "exit code $?"; cat notes.txt',
        "surefoot rate 38/50 > out.txt 2> notes.txt; tail -1 out.txt",
    ],
)
def test_a_command_ends_and_prints_as_in_bash(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert ran(command, tmp_path) == in_bash(command, tmp_path)


def test_a_wrong_page_is_caught(tmp_path):
    def block(body):
        return Block(1, "console", body, "", False)

    run_console(block("$ printf 'one\\n\\ntwo  \\n'\none\n...wo\n"), "page", tmp_path)
    with pytest.raises(AssertionError, match=r"prints:\s+one"):
        run_console(block("$ echo one\ntwo\n"), "page", tmp_path)
    with pytest.raises(AssertionError, match="ended with 3"):
        run_console(block("$ exit 3\n"), "page", tmp_path)
    with pytest.raises(AssertionError, match="Expected"):
        run_python(Block(1, "python", ">>> 1 + 1\n3\n", "", False), "page", {})


def test_decisions_are_numbered_without_gaps():
    """The next decision takes the next number, in its file's name and in its title."""
    decisions = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert [int(path.name[:4]) for path in decisions] == list(range(1, len(decisions) + 1))
    titles = [path.read_text(encoding="utf-8").splitlines()[0] for path in decisions]
    assert [title for number, title in enumerate(titles, 1) if not title.startswith(f"# {number}. ")] == []


def test_the_first_release_says_what_it_is_and_not_what_it_was():
    """Nobody used what was before 0.1.0; a later release speaks to users of the one before."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = text[text.index("\n## 0.1.0 ") :]
    assert re.findall(r"no longer|any more|used to|\bbefore, |\bnow\b|instead of", first) == []


def test_whatever_0_1_0_had_is_still_there_or_told_to_have_gone():
    """Every public name and command of 0.1.0, as its code listed them."""
    told = "".join((ROOT / "docs" / f"migrating-{to}.md").read_text(encoding="utf-8") for to in ("0.2", "0.3"))
    commands = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    for name in (ROOT / "tests" / "fixtures" / "v0_1_0" / "names.txt").read_text(encoding="utf-8").splitlines():
        room, _, last = name.rpartition(".")
        if not room:
            assert f"`{name}`" in commands, f"the command `{name}` is gone"
        elif name not in _moved.moved() and last not in importlib.import_module(room)._HOMES:
            assert re.search(rf"`(stats\.)?{last}\b", told), f"{name} is gone, and no page of migrating says so"


ROOMS = ("stats", "sequential", "reference")


def test_the_reference_lists_what_is_public_and_each_name_once():
    text = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    names = re.findall(r"^\.\. auto\w+:: (\S+)", text, re.MULTILINE)
    assert sorted(name for name in set(names) if names.count(name) > 1) == []
    rooms = [importlib.import_module(room) for room in ("surefoot", *(f"surefoot.{one}" for one in ROOMS))]
    public = {f"{room.__name__}.{name}" for room in rooms for name in room._HOMES}
    public |= {f"{home}.{name}" for home, names in _moved.TYPES.items() for name in names.split()}
    assert [name for name in names if name not in public and not name.startswith("surefoot.integrations.")] == []
    assert [name for name in sorted(public) if not re.search(rf"{re.escape(name)}\b", text)] == []
