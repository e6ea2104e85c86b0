"""./run mutants: takes each guard of table.py out of a copy of the sources and expects the named test to fail.

    mutants.py [NAME…] [--timeout SECONDS]   all mutants, or those whose name holds one of these words
    mutants.py --list
    mutants.py --check TESTS                 every text stands in its file exactly once, every test is in its program

The copy and its build stay in build/mutants, so that a second run compiles only what has changed.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from mutant import CONTROLS  # noqa: E402
from table import MUTANTS  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "mutants" / "tree"
BUILD = TREE / "build"


def text_faults(mutant, root):
    """What is wrong with the texts of a mutant."""
    faults = []
    for file, find, put in mutant.edits:
        path = root / file
        if not path.is_file():
            faults.append(f"{file} does not exist")
        elif (times := path.read_text().count(find)) != 1:
            faults.append(f"the text stands in {file} {times} times, not once: {find.strip().splitlines()[0]}")
        if find == put:
            faults.append("it changes nothing")
    return faults


def listed(program):
    """The tests of a program, by their full names."""
    suite, names = "", set()
    for line in subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout.splitlines():
        word = line.split("#")[0].rstrip()
        if line.startswith(" "):
            names.add(suite + word.strip())
        elif word.endswith("."):
            suite = word
    return names


def check(tests):
    faults, known = [], {}
    names = [mutant.name for mutant in MUTANTS]
    faults += [f"{name}: the name is there twice" for name in sorted({n for n in names if names.count(n) > 1})]
    wanted = [(m.name, m.program, m.test) for m in MUTANTS]
    wanted += [(m.name, m.program, m.control or CONTROLS[m.program]) for m in MUTANTS]
    for name, program, test in wanted:
        if program not in known:
            known[program] = listed(tests / program)
        if test not in known[program]:
            faults.append(f"{name}: {program} has no test {test}")
    for mutant in MUTANTS:
        faults += [f"{mutant.name}: {fault}" for fault in text_faults(mutant, ROOT)]
    for fault in sorted(set(faults)):
        print(fault)
    print(f"{len(MUTANTS)} mutants, {len(set(faults))} faults")
    return 1 if faults else 0


def follow_sources():
    """Makes the copy equal to the sources again, touching only what differs."""
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    kept = {name for name in files.stdout.splitlines() if (ROOT / name).is_file()}
    for name in kept:
        source, copy = ROOT / name, TREE / name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes())
            copy.chmod(source.stat().st_mode)
    for folder, folders, names in os.walk(TREE):
        if pathlib.Path(folder) == TREE and "build" in folders:
            folders.remove("build")
        for name in names:
            path = pathlib.Path(folder) / name
            if str(path.relative_to(TREE)) not in kept:
                path.unlink()


def build(programs):
    made = subprocess.run(["cmake", "--build", BUILD, "--target", *programs], capture_output=True, text=True)
    return "" if made.returncode == 0 else made.stdout[-3000:] + made.stderr[-1000:]


def run(program, tests, timeout, orders=""):
    """green, red, crash or timeout, and what was printed."""
    surroundings = {**os.environ, "SLUICE_INTERLEAVINGS": orders} if orders else os.environ
    command = [BUILD / "tests" / program, "--gtest_filter=" + ":".join(tests), "--gtest_brief=1"]
    try:
        ended = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, errors="replace", timeout=timeout,
                               env=surroundings)
    except subprocess.TimeoutExpired:
        return "timeout", ""
    said = ended.stdout + ended.stderr
    if ended.returncode == 0:
        return ("green" if "[  PASSED  ] 0 tests" not in said else "missing"), said
    return ("red" if ended.returncode == 1 and "[  FAILED  ]" in said else "crash"), said


def apply(mutant):
    """Changes the copy; returns what undoes it."""
    before = {}
    for file, find, put in mutant.edits:
        path = TREE / file
        text = path.read_text()
        before.setdefault(path, text)
        path.write_text(text.replace(find, put))
    return before


def try_one(mutant, timeout):
    """'' when the named test noticed, else what happened instead."""
    if faults := text_faults(mutant, ROOT):
        return "; ".join(faults)
    before = apply(mutant)
    try:
        if said := build([mutant.program]):
            return "does not compile:\n" + said
        outcome, said = run(mutant.program, [mutant.test], timeout, mutant.orders)
        if outcome != mutant.outcome:
            return "SURVIVED" if outcome == "green" else f"{outcome} instead of {mutant.outcome}:\n{said[-3000:]}"
        # A program that is broken altogether would have failed as well.
        outcome, said = run(mutant.program, [mutant.control or CONTROLS[mutant.program]], timeout)
        return "" if outcome == "green" else f"the control is {outcome}, too:\n{said[-3000:]}"
    finally:
        for path, text in before.items():
            path.write_text(text)


def prepare(mutants, timeout):
    """Builds the copy as it is; every test that will be asked to fail has to pass first."""
    TREE.mkdir(parents=True, exist_ok=True)
    follow_sources()
    if not (BUILD / "build.ninja").is_file():
        subprocess.run(["cmake", "--preset", "release", "-DSLUICE_TESTS=ON", "-DSLUICE_BENCH=OFF", "-DSLUICE_EXAMPLES=OFF"],
                       cwd=TREE, check=True, stdout=subprocess.DEVNULL)
    programs = sorted({mutant.program for mutant in mutants})
    print(f"building {', '.join(programs)}", flush=True)
    if said := build(programs):
        print(said)
        return False
    for program in programs:
        tests = sorted({t for m in mutants if m.program == program for t in (m.test, m.control or CONTROLS[program])})
        outcome, said = run(program, tests, timeout * len(tests))
        if outcome != "green":
            print(f"without a mutant, {program} is {outcome}:\n{said[-3000:]}")
            return False
    return True


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("names", nargs="*", metavar="NAME")
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--check", metavar="TESTS", type=pathlib.Path)
    arguments.add_argument("--timeout", type=float, default=120)
    given = arguments.parse_args()
    if given.check:
        return check(given.check)
    chosen = [m for m in MUTANTS if not given.names or any(word in m.name for word in given.names)]
    if not chosen:
        print(f"no mutant is called {' or '.join(given.names)}; --list shows them")
        return 2
    width = max(len(mutant.name) for mutant in chosen)
    if given.list:
        for mutant in chosen:
            print(f"{mutant.name:{width}}  {mutant.guard}\n{'':{width}}  {mutant.program} {mutant.test}")
        print(f"{len(chosen)} mutants")
        return 0
    if not prepare(chosen, given.timeout):
        return 1
    failed, began = 0, time.monotonic()
    for mutant in chosen:
        start = time.monotonic()
        trouble = try_one(mutant, given.timeout)
        failed += bool(trouble)
        verdict = "FAILED" if trouble else "caught"
        print(f"{mutant.name:{width}}  {verdict}  {time.monotonic() - start:5.1f} s  {mutant.test}", flush=True)
        if trouble:
            print(trouble, flush=True)
    print(f"{time.monotonic() - began:.0f} s")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
