"""What a measurement says: the median of its rounds, the ratio to the other side, and whether the goal is met. Pure."""
import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """A limit for the ratio, or for the value itself; most goals are floors, some are ceilings."""
    limit: float
    ceiling: bool = False
    on_value: bool = False

    def is_met(self, figure):
        measured = figure.value if self.on_value else figure.exact_ratio
        return measured <= self.limit if self.ceiling else measured >= self.limit

    def __str__(self):
        return f"{'≤' if self.ceiling else '≥'} {self.limit:g}"


def at_least(ratio):
    return Goal(ratio)


def at_most(ratio):
    return Goal(ratio, ceiling=True)


def value_at_most(value):
    return Goal(value, ceiling=True, on_value=True)


@dataclass(frozen=True)
class Figure:
    """The rounds of one side, beside those of the other where there is one."""
    bench: str
    unit: str
    rounds: tuple
    against: str | None = None
    against_rounds: tuple = ()
    goal: Goal | None = None
    note: str | None = None

    @property
    def value(self):
        return statistics.median(self.rounds)

    @property
    def against_value(self):
        return statistics.median(self.against_rounds) if self.against_rounds else None

    @property
    def exact_ratio(self):
        return self.value / self.against_value if self.against_rounds else None

    @property
    def met(self):
        return self.goal.is_met(self) if self.goal else None

    def as_row(self):
        """What --json prints: one flat object."""
        ratio = self.exact_ratio
        row = {"bench": self.bench, "value": shown(self.value, self.unit), "unit": self.unit,
               "ratio": None if ratio is None else round(ratio, 2), "against": self.against,
               "against_value": shown(self.against_value, self.unit), "goal": str(self.goal) if self.goal else None,
               "goal_on": None if self.goal is None else "value" if self.goal.on_value else "ratio", "met": self.met,
               "spread_percent": spread_percent(self.rounds), "against_spread_percent": spread_percent(self.against_rounds),
               "rounds": len(self.rounds)}
        return row | {"note": self.note} if self.note else row


def versus(bench, unit, ours, against, theirs, goal=None):
    return Figure(bench, unit, tuple(ours), against, tuple(theirs), goal)


def alone(bench, unit, rounds, goal=None, note=None):
    return Figure(bench, unit, tuple(rounds), goal=goal, note=note)


def shown(value, unit):
    if value is None:
        return None
    return round(value) if unit.endswith("/s") else round(value, 2 if abs(value) < 100 else 1)


def spread_percent(rounds):
    """From the lowest to the highest round, in percent of the median."""
    if not rounds:
        return None
    middle = statistics.median(rounds)
    return round((max(rounds) - min(rounds)) / middle * 100) if middle else 0


def percentile(values, part):
    ordered = sorted(values)
    return ordered[round((len(ordered) - 1) * part)]


def in_turn(rounds, *sides):
    """Runs the sides alternately and returns the list of figures of each."""
    figures = [[] for _ in sides]
    for _ in range(rounds):
        for side, values in zip(sides, figures):
            values.append(side())
    return figures
