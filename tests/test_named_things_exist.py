# SPDX-License-Identifier: MIT
"""What docs, messages and comments call by name exists under that name: keys, nodes, steps, files, terms."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
import xml.etree.ElementTree as ElementTree
from functools import lru_cache
from pathlib import Path

import pytest
import yaml

from shellbot_teleop.controls import mode_buttons
from shellbot_teleop.joystick_mapping import JoystickMapping
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.keys import NAMED_KEYS, key_label

ROOT = Path(__file__).resolve().parents[1]

# ---- keys ----------------------------------------------------------------------------

DOCS = [
    *sorted(ROOT.glob("*ING.md")),
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "src").glob("*/README.md")),
]
KEYMAP = Keymap.load(ROOT / "src/shellbot_teleop/config/keymap.yaml")
BOUND = {binding.key for binding in KEYMAP.bindings}
NAMES = {key_label(key): key for key in [*NAMED_KEYS, *BOUND]}
NAMES.update({key: key for key in NAMED_KEYS}, arrows="Up", **{key.upper(): key for key in ("Space", "Escape", "Esc")})
NAMES["ESC"] = "Escape"
# Names that are no other word, wherever they stand; Ctrl-C is the terminal's own and written with a hyphen.
PLAIN = r"Esc|ESC|Escape|ESCAPE|Space|SPACE|PgUp|PgDn|PageUp|PageDown|Backspace|F(?:[1-9]|1[0-2])|Ctrl\+[A-Z]"
SINGLE = r"[A-Z0-9+−]|[↑↓←→]|Shift|Tab|Home|End|Enter|Insert|Delete|arrows"
MARKED = rf"(?:{PLAIN}|{SINGLE})"


def keys_of(text, in_key_table=False):
    """The keys that a text names, as the key map spells them; a name that no key has stays as it is."""
    found = re.findall(rf"(?<![\w/`])(?:{PLAIN})(?![\w/])", text)
    for run in re.findall(rf"\*\*({MARKED}(?: {MARKED})*)\*\*|<kbd>(.+?)</kbd>", text):
        found += " ".join(run).split()
    if in_key_table:
        found += [name for run in re.findall(r"`([^`]+)`", text) for name in run.split()]
        found += re.findall(rf"(?<!\w)(?:{SINGLE})(?!\w)", text)
    return {NAMES.get(name, name) for name in found}


def lines_of_docs():
    for file in DOCS:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{file.relative_to(ROOT)}:{number}", line


def named_in_docs():
    """Every clause of the docs that names a key."""
    for where, line in lines_of_docs():
        for clause in re.split(r"[;:]|\. ", line):
            if keys_of(clause):
                yield where, clause, keys_of(clause)


def wrong_keys(clauses):
    stop, rearm = (
        {binding.key for binding in KEYMAP.bindings if binding.action == f"safety.{action}"}
        for action in ("emergency_stop", "rearm")
    )
    wrong = []
    for where, clause, keys in clauses:
        wrong += [f"{where} names {key}, which the key map has not" for key in sorted(keys - BOUND)]
        if re.search(r"emergency.stop", clause, re.IGNORECASE) and not (keys & stop and keys <= stop | rearm):
            wrong.append(f"{where}: the emergency stop is {sorted(stop)}, not {sorted(keys - stop - rearm)}")
    return wrong


def test_keys_in_docs_are_those_of_the_key_map():
    clauses = list(named_in_docs())
    assert len({where.split(":")[0] for where, _, _ in clauses}) >= 4, "the docs name keys in another way now"
    assert not wrong_keys(clauses), "\n".join(wrong_keys(clauses))


def test_the_table_of_keys_is_complete():
    text = (ROOT / "src/shellbot_teleop/README.md").read_text(encoding="utf-8")
    rows = [
        line.split("|") for line in re.search(r"\| keys \|.*?\n\n", text, re.DOTALL).group(0).strip().splitlines()[2:]
    ]
    named = set().union(*(keys_of(row[1], in_key_table=True) for row in rows), *(keys_of(row[2]) for row in rows))
    assert {name.lower() if len(name) == 1 else name for name in named} - set(KEYMAP.layout_names) == BOUND


def test_the_table_of_the_joystick_names_the_buttons_of_its_mapping():
    text = (ROOT / "src/shellbot_teleop/README.md").read_text(encoding="utf-8")
    rows = re.search(r"\| on the controller \|.*?\n\n", text, re.DOTALL).group(0).strip().splitlines()[2:]
    named = {
        name
        for row in rows
        for name in re.split(r"[,;] ", re.sub(r"[*]| held", "", row.split("|")[1]).strip())
        if not re.search(r"^(?:left|right) stick$|cross|left and right|up and down|forward and back", name)
    }
    mapping = JoystickMapping.load(ROOT / "src/shellbot_teleop/config/joystick.yaml")
    assert named == {button.name for button in mapping.buttons}


@pytest.mark.parametrize(
    "text, words",
    [
        ("Try the emergency stop (SPACE in the window)", "not ['Space']"),
        ("emergency stop: first power, then **Space** is the emergency stop", "not ['Space']"),
        ("press **K** to kneel", "names K"),
        ("<kbd>F10</kbd> does it", "names F10"),
        ("Ctrl+S saves", "names Ctrl+S"),
    ],
)
def test_wrong_keys_are_found(text, words):
    clauses = [("here", clause, keys_of(clause)) for clause in re.split(r"[;:]|\. ", text)]
    assert words in " ".join(wrong_keys([c for c in clauses if c[2]]))


# ---- buttons -------------------------------------------------------------------------


def test_buttons_in_docs_are_those_of_the_window():
    code = "".join(
        f.read_text(encoding="utf-8") for f in (ROOT / "src/shellbot_teleop/src/shellbot_teleop/qt").glob("*.py")
    )
    buttons = {*re.findall(r'\bbutton\(tr\("(.+?)"\)', code), *(text for text, _ in mode_buttons(KEYMAP))}
    named = [
        (where, marked or plain)
        for where, line in lines_of_docs()
        for marked, plain in re.findall(r"\bbutton (?:\*([^*]+)\*|([A-Z]\w*))", line)
    ]
    wrong = [f"{where} names the button {name!r}" for where, name in named if name not in buttons]
    assert len(named) >= 4, "the docs name buttons in another form now"
    assert not wrong, "\n".join([*wrong, f"the window has {sorted(buttons)}"])


# ---- nodes ---------------------------------------------------------------------------

LAUNCHED = [
    (node.get("pkg"), node.get("type"), node.get("name"))
    for file in sorted((ROOT / "src").glob("*/launch/*.launch"))
    for node in ElementTree.parse(str(file)).getroot().iter("node")
]
NODES = {name for *_, name in LAUNCHED}
# those of other packages are commands to the reader, such as gazebo_ros' spawn_model
EXECUTABLES = {kind for package, kind, _ in LAUNCHED if (ROOT / "src" / package).is_dir()} - NODES
AFTER_NODE = {"and", "from", "has", "in", "is", "it", "itself", "of", "start", "started", "that", "to", "was", "which"}


@lru_cache(maxsize=None)
def sentences():
    """Every string constant of programs that is no docstring."""
    found = []
    for file in sorted(
        file for folder in ("src/*/src/**/*.py", "src/*/nodes/*", "scripts/lib/*.py") for file in ROOT.glob(folder)
    ):
        if not file.is_file():
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                found.append((f"{file.relative_to(ROOT)}:{node.lineno}", node.value))
    return found


def unknown_nodes(found):
    for where, text in found:
        names = re.findall(r"\bthe nodes? ([a-z_]+)(?:(?:, [a-z_]+)* (?:and|or) ([a-z_]+))?", text)
        wrong = {name for pair in names if pair[0] not in AFTER_NODE for name in pair if name} - NODES
        wrong |= {name for name in EXECUTABLES if " " in text and re.search(rf"(?<![\w/]){name}(?!\w)", text)}
        yield from (f"{where} names the node {name}; the launch files start {sorted(NODES)}" for name in sorted(wrong))


def test_nodes_in_messages_are_those_of_the_launch_files():
    wrong = list(unknown_nodes(sentences()))
    assert not wrong, "\n".join(wrong)


def test_wrong_nodes_are_found():
    texts = [
        "check kinematics_server and action_manager",
        "start the nodes kinematics and walker",
        "is the node gain up?",
    ]
    assert len(list(unknown_nodes(("here", text) for text in texts))) == 3


# ---- words of messages ---------------------------------------------------------------

RIDDLES = r"\b(?:told|tells?|asked|heard|nobody|wanted|kept|in the way)\b"


def test_messages_use_the_words_of_the_field():
    """docs/conventions.md has the words; a robot lists, reports and requests."""
    wrong = [f"{where}: {text!r}" for where, text in sentences() if re.search(RIDDLES, text)]
    assert not wrong, "\n".join(wrong)


# ---- steps of a transition -----------------------------------------------------------


def test_mode_message_lists_the_steps_of_the_mode_table():
    message = (ROOT / "src/shellbot_msgs/msg/Mode.msg").read_text(encoding="utf-8")
    of_transition, otherwise = re.search(r"^string step +# of a transition: (.+); else: (.+)$", message, re.M).groups()
    table = yaml.safe_load((ROOT / "src/shellbot_action_manager/config/modes.yaml").read_text(encoding="utf-8"))
    assert set(of_transition.split(", ")) == {step for row in table["transitions"] for step in row["steps"]}
    code = "".join(
        file.read_text(encoding="utf-8") for file in (ROOT / "src/shellbot_action_manager/src").rglob("*.py")
    )
    for name in set(re.findall(r"[a-z_]+", otherwise)) - {"or", "empty"}:
        assert f'"{name}"' in code, f"Mode.msg says that step may be {name}, which the action manager never sends"


# ---- files ---------------------------------------------------------------------------

FILE = re.compile(r"(?<![\w./<>{}*$-])[\w][\w./-]*\.(?:py|yaml|md|launch|xacro|cpp|ipynb)\b(?![\w/.<>{}*-])")
EXAMPLES = {"bus.yaml", "my_actions/mine.yaml"}  # of a reader's own, and those in capitals


def comments(file):
    """Each comment and docstring of a file, with its line."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT or token.string.lstrip("rf").startswith('"""'):
                yield token.start[0], token.string
    else:
        for number, line in enumerate(text.splitlines(), 1):
            yield number, line.partition("#")[2] if file.suffix == ".yaml" else line


def lost_files(lines, known):
    for where, text in lines:
        for name in FILE.findall(text):
            is_example = name in EXAMPLES or re.search(r"\b[A-Z]{2,}\b", name)
            if not is_example and not any(path == name or path.endswith(f"/{name}") for path in known):
                yield f"{where} names {name}, which is not there"


def test_files_in_comments_are_there():
    known = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=str(ROOT), stdout=subprocess.PIPE, text=True, check=True,
    ).stdout.split()  # fmt: skip
    files = [
        ROOT / name for name in known if re.search(r"^src/\w+/(?:src|config|launch|test)/.*\.(?:py|yaml|launch)$", name)
    ]
    lines = ((f"{f.relative_to(ROOT)}:{n}", text) for f in files if f.exists() for n, text in comments(f))
    lost = list(lost_files(lines, known))
    assert not lost, "\n".join(lost)


def test_wrong_files_are_found():
    known = ["src/a/codegen/rows.py"]
    texts = ["see codegen/rows.py or rows.py", "see generated/rows.py", "(robot.md)", "FILE.yaml"]
    assert [text.split()[2] for text in lost_files((("here", text) for text in texts), known)] == [
        "generated/rows.py,", "robot.md,"
    ]  # fmt: skip


# ---- terms ---------------------------------------------------------------------------

TERMS = """CLIK, Levenberg-Marquardt, branch, batch, packed, virtual chassis, serpenoid, winding angle, shape space,
side-winding, velocity map, walking engine, sole, centre of pressure, DCM, gore, fan, duty factor, regressor,
connector, driver, odometry, operator in control, seed, cost of transport, lock-step, rest pose, behaviour, payload,
load share, sag, manipulability, dead-man, monitor mode, servo map, rtf, return delay, campaign, covariance,
touchdown"""


def test_the_glossary_explains_the_terms_of_every_robot():
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = " ".join(row.split("|")[1] for row in glossary.splitlines() if row.startswith("| "))
    pages = "".join(file.read_text(encoding="utf-8") for file in DOCS if file.name != "glossary.md")
    for term in re.split(r",\s+", TERMS):
        assert term in pages, f"no page has the term {term!r} any longer"
        assert term in words, f"docs/glossary.md does not explain {term!r}"
