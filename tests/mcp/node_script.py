"""Runs the .mjs scripts of this folder with the packages of tests/node beside them."""
import functools
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import node_program

start_script = functools.partial(node_program.start_script, HERE)
run_script = functools.partial(node_program.run_script, HERE)
