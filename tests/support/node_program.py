"""Runs the .mjs scripts of a folder with the packages of tests/node beside them."""
import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


@contextlib.contextmanager
def start_script(folder, name, environment, *words):
    """The running script, with pipes to its stdin and stdout. An ES module finds packages only beside itself."""
    packages = subprocess.run([HERE / "node-packages"], check=True, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as work:
        for script in Path(folder).glob("*.mjs"):
            shutil.copy(script, work)
        os.symlink(f"{packages}/node_modules", f"{work}/node_modules")
        process = subprocess.Popen(["node", f"{work}/{name}", *words], env=environment, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def run_script(folder, name, environment, *words):
    """Its exit code; what it says is shown."""
    with start_script(folder, name, environment, *words) as script:
        script.communicate()
    return script.returncode
