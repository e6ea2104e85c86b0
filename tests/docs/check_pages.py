"""check_pages.py SLUICE PAGE…: what no page may get wrong, whether its blocks run or not.

Every page with commands is among the PAGEs that are followed. Each command that a page mentions exists, with its flags.
Each link leads somewhere, headings included.
"""
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
MENTION = re.compile(r"`(?:build/)?(sluice(?: [^`]*)?)`")
TYPED = re.compile(r"(?:^|[\s($|;])build/(sluice [^\n|;)&]*)", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
SLUICE = sys.argv[1]
FOLLOWED = sys.argv[2:]


@lru_cache(maxsize=None)
def help_of(*words):
    done = subprocess.run([SLUICE, *words, "--help"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def complaint(mention):
    """What is wrong with `sluice noun verb VALUE --flag …`, or None."""
    words = mention.replace("[", "").replace("]", "").split()[1:]
    command = []
    for word in words:
        if not re.fullmatch(r"[a-z][a-z-]*", word) or help_of(*command, word) is None:
            break
        command.append(word)
    if not command and words and not words[0].startswith(("-", "COMMAND")) and words[0] != "…":
        return f"there is no command `{mention}`"
    known = help_of(*command) + help_of()
    for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", mention):
        if not re.search(rf"(?<![\w-]){flag}(?![\w-])", known + " --help"):
            return f"`sluice {' '.join(command)}` has no {flag}"
    return None


def anchors(page):
    text = FENCE.sub("", page.read_text())
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def problems(page):
    name, text = str(page.relative_to(ROOT)), page.read_text()
    blocks = FENCE.findall(text)
    if any(language in ("sh", "sql") for language, _, _ in blocks) and name not in FOLLOWED:
        yield f"{name}: it has commands, and nobody follows it"
    prose = FENCE.sub("", text)
    mentions = MENTION.findall(prose)
    for language, _, block in blocks:
        if language == "sh":
            mentions += TYPED.findall(block)
    for mention in mentions:
        if wrong := complaint(mention):
            yield f"{name}: {wrong}"
    for target, anchor in LINK.findall(prose):
        to = (page.parent / target).resolve() if target else page
        if not to.exists():
            yield f"{name}: {target} does not exist"
        elif anchor and to.suffix == ".md" and anchor not in anchors(to):
            yield f"{name}: {target} has no heading #{anchor}"


pages = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md")),
         ROOT / "bench/README.md"]
found = [problem for page in pages for problem in problems(page)]
print("\n".join(found) or f"{len(pages)} pages are sound")
sys.exit(1 if found else 0)
