"""clang_tidy.py [--deep] [PATH…]: clang-tidy over src, many files at a time; with PATHs only over batches with files below them.

Reading the standard library takes most of the time of a small file, so the files that the build compiles together are read
together. They are pasted into one file: of a file that is included the static analyzer would skip the functions. Each
finding is printed once, however many batches include its header, and whatever else clang-tidy says is printed too: a file
that it could not read is a finding. Only `--deep` runs the static analyzer: it takes ten times as long as all the rest.
"""
import bisect
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "lint"
# As many as CMakePresets.json has in a batch: names are known not to clash in these.
TOGETHER = 12
FINDING = re.compile(r"^(?:\S+:\d+:\d+: )?(?:error|warning): ")
# What clang-tidy counts: warnings of system headers, which nobody asked for, and findings, which are printed.
COUNTS = re.compile(r"^(?:\d+ warnings?(?: and \d+ errors?)?|\d+ errors?) (?:generated|treated as errors?)\.?$|^Suppressed \d+ ")


class Batch:
    def __init__(self, target, number, flags, sources):
        self.path = BUILD / "batches" / f"{Path(target).name}_{number}.cpp"
        self.flags = flags
        self.sources = sources
        self.starts = []  # the line before the first one of each source
        texts = []
        line = 0
        for source in sources:
            texts.append(source.read_text().rstrip("\n") + "\n")
            self.starts.append(line)
            line += texts[-1].count("\n")
        self.text = "".join(texts)

    @property
    def name(self):
        first = self.sources[0].relative_to(ROOT)
        return f"{first.parent} ({len(self.sources)} files)" if len(self.sources) > 1 else str(first)

    def in_sources(self, output):
        """What is said of the batch, said of its sources."""
        def place(match):
            line = int(match.group(1))
            index = bisect.bisect_left(self.starts, line) - 1
            return f"{self.sources[index]}:{line - self.starts[index]}:"
        return re.sub(rf"{re.escape(str(self.path))}:(\d+):", place, output).replace(f"{ROOT}/", "")

    def check(self, checks):
        """What clang-tidy has to say; nothing, when all is well."""
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(self.text)
        done = subprocess.run(["clang-tidy", "--quiet", f"--checks={checks}", str(self.path), "--", *self.flags], cwd=BUILD,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        found = findings(self.in_sources(done.stdout))
        # Besides findings it says in which batch they were.
        found += [said for said in findings(self.in_sources(done.stderr))
                  if not (found and said.startswith("Error while processing "))]
        if done.returncode != 0 and not found:
            found = [f"{self.name}: clang-tidy ends with {done.returncode} and says nothing"]
        return found


def batches(commands):
    """The largest first, so that no core waits long for the last one. What is generated is left out."""
    targets = {}
    for command in commands:
        source = Path(command["file"])
        if BUILD not in source.parents:
            _, *flags = shlex.split(command["command"])
            at = flags.index("-o")
            target = flags[at + 1].split(".dir/")[0]
            targets.setdefault(target, (flags[:at], []))[1].append(source)
    found = [Batch(target, start // TOGETHER, flags, sources[start:start + TOGETHER])
             for target, (flags, sources) in targets.items() for start in range(0, len(sources), TOGETHER)]
    return sorted(found, key=lambda batch: -len(batch.text))


def findings(output):
    """Each finding with its notes as one text; so is what stands before the first."""
    blocks = []
    for line in output.splitlines():
        if COUNTS.match(line):
            continue
        if FINDING.match(line) or not blocks:
            blocks.append(line)
        else:
            blocks[-1] += "\n" + line
    return [block for block in blocks if block.strip()]


def report(found, seen):
    """The notes of a finding in a header may differ from batch to batch; its first line does not."""
    for finding in found:
        first = finding.splitlines()[0]
        if first not in seen:
            seen.add(first)
            print(finding, flush=True)


def main(arguments):
    checks = "" if "--deep" in arguments else "-clang-analyzer-*"
    paths = [argument for argument in arguments if argument != "--deep"]
    below = tuple(str(ROOT / path) for path in paths)
    chosen = [batch for batch in batches(json.loads((BUILD / "compile_commands.json").read_text()))
              if not below or any(str(source).startswith(below) for source in batch.sources)]
    if not chosen:
        print(f"nothing to check below {' '.join(paths)}", file=sys.stderr)
        return 2
    seen = set()
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        running = {pool.submit(batch.check, checks): batch for batch in chosen}
        for number, done in enumerate(as_completed(running), 1):
            print(f"[{number}/{len(chosen)}] {running[done].name}", file=sys.stderr, flush=True)
            report(done.result(), seen)
    print(f"findings: {len(seen)}" if seen else "clang-tidy finds nothing", file=sys.stderr)
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
