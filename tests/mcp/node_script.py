"""Runs the .mjs scripts of this folder with the packages of tests/node beside them."""
import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


@contextlib.contextmanager
def start_script(name, environment):
    """The running script, with pipes to its stdin and stdout. An ES module finds packages only beside itself."""
    packages = subprocess.run([HERE.parent / "support/node-packages"], check=True, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        for script in HERE.glob("*.mjs"):
            shutil.copy(script, folder)
        os.symlink(f"{packages}/node_modules", f"{folder}/node_modules")
        process = subprocess.Popen(["node", f"{folder}/{name}"], env=environment, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def run_script(name, environment):
    """Its exit code; what it says is shown."""
    with start_script(name, environment) as script:
        script.communicate()
    return script.returncode
