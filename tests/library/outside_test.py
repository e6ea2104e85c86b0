"""outside_test.py installed|embedded BUILD COMPILER [SANITIZE]: a program outside the tree builds with the library and runs.

installed   the library is installed into an empty prefix and found there by find_package
embedded    the source tree is a subdirectory of the program's own project
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]


def run(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def settings_of(kind, build, folder, sanitize):
    if kind == "embedded":
        return ["-GNinja", f"-DSLUICE_SOURCE={SOURCE}", f"-DSLUICE_SANITIZE={sanitize}", "-DCMAKE_UNITY_BUILD=ON"]
    prefix = folder / "prefix"
    shutil.rmtree(prefix, ignore_errors=True)
    run("cmake", "--install", build, "--prefix", prefix, "--component", "library")
    return [f"-DCMAKE_PREFIX_PATH={prefix}"]


def main():
    kind, build, compiler = sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3]
    sanitize = sys.argv[4] if len(sys.argv) > 4 else ""
    folder = build / "outside" / kind  # kept: what has not changed is not compiled again
    folder.mkdir(parents=True, exist_ok=True)
    settings = settings_of(kind, build, folder, sanitize)
    run("cmake", "-S", HERE / "consumer", "-B", folder / "build", f"-DCMAKE_CXX_COMPILER={compiler}", *settings)
    run("cmake", "--build", folder / "build", "--target", "consumer", "--parallel", os.cpu_count())
    with tempfile.TemporaryDirectory() as empty:
        said = run(folder / "build" / "consumer", f"{empty}/events.db")
    if said != 'handled outside.event {"n":1}\n':
        sys.exit(f"the program said: {said}")


main()
