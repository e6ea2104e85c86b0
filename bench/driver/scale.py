"""How much is measured: the sizes that count, and the small ones that show that a benchmark runs."""
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Scale:
    rounds: int = 3
    events: int = 200_000       # drained or published in batches, per round
    history: int = 5_000_000    # delivered rows kept
    pinned_seconds: int = 15    # how long a snapshot is held before the measured drain
    seconds: int = 5            # of a measurement by time
    latencies: int = 2_000      # events published one at a time
    deliveries: int = 50_000    # to the HTTP receiver
    partitioned: int = 2_000_000  # delivered rows in a table that becomes partitioned
    dead: int = 1_000_000       # failed rows
    pending: int = 1_000_000    # rows while memory is read
    watched: int = 10           # seconds of serving, whose peak of memory is read
    repeats: int = 20           # calls or starts, for a percentile
    embedded: int = 100_000     # events on SQLite


FULL = Scale()
QUICK = Scale(rounds=1, events=10_000, history=50_000, pinned_seconds=1, seconds=1, latencies=100, deliveries=1_000, partitioned=10_000,
              dead=10_000, pending=10_000, watched=1, repeats=2, embedded=5_000)


def scale(quick, rounds=None):
    chosen = QUICK if quick else FULL
    return replace(chosen, rounds=rounds) if rounds else chosen
