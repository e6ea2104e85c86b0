"""Processor time: on a busy machine the time of day moves by a quarter, what a program computes does not."""
import os
import resource
from pathlib import Path


class ProcessorTime:
    """Of the block: `client` seconds of the programs that it ran to their end, `server` seconds of all of PostgreSQL."""

    def __enter__(self):
        self._client, self._server = children_seconds(), server_seconds()
        return self

    def __exit__(self, *_):
        self.client, self.server = children_seconds() - self._client, server_seconds() - self._server

    @property
    def seconds(self):
        return self.client + self.server


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def server_seconds():
    """Of the postmaster, its processes, and those of them that have ended."""
    postmaster = int((Path(os.environ["SLUICE_TEST_POSTGRES_DATA"]) / "postmaster.pid").read_text().splitlines()[0])
    while True:
        before = ended_ticks(postmaster)
        ticks = ticks_of(postmaster, stat_lines())
        # One that ended meanwhile would count twice, or not at all.
        if ended_ticks(postmaster) == before:
            return ticks / os.sysconf("SC_CLK_TCK")


def ended_ticks(process):
    return Stat(Path(f"/proc/{process}/stat").read_text()).ended


def stat_lines():
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            yield stat.read_text()
        except OSError:
            pass  # it has ended


class Stat:
    """What a line as /proc/PID/stat has it says of processor time: of the process, and of its children that have ended."""

    def __init__(self, line):
        # The name stands in brackets and may hold anything.
        before, _, after = line.rpartition(")")
        fields = after.split()
        self.process, self.parent = int(before.split()[0]), int(fields[1])
        self.own, self.ended = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))


def ticks_of(parent, lines):
    """Of a process, its children, and its children that have ended."""
    stats = [Stat(line) for line in lines]
    return (sum(stat.own + stat.ended for stat in stats if stat.process == parent)
            + sum(stat.own for stat in stats if stat.parent == parent))
