"""One word per concept, in code, SQL, docs and comments, and none of the phrases that nobody would say aloud."""
import re
from dataclasses import dataclass, field
from pathlib import Path

from tree import CODE, Problem, line_of, unknown

LISTED_IN = "tests/tidy/known_words.txt"
LIST = Path(__file__).with_name("known_words.txt")
ANYWHERE = ("",)


@dataclass(frozen=True)
class Word:
    name: str
    pattern: str
    use: str
    stem: str  # in small letters, part of every match: texts without it are not searched
    suffixes: tuple = ANYWHERE
    folders: tuple = ANYWHERE
    spared: tuple = ()  # files where the word means something else
    regex: re.Pattern = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "regex", re.compile(self.pattern))

    def applies(self, path):
        return path.endswith(self.suffixes) and path.startswith(self.folders) and not path.startswith(self.spared)


def part(word):
    """The word alone, or as a part of a name: desk, pull_desk, PullDesk, desk_."""
    first, rest = word[0], word[1:]
    return rf"(?:{first}(?<![A-Za-z].)|{first.upper()}(?<![A-Z].)){rest}s?(?![a-z])"


WORDS = (
    # A tool of the MCP surface has its name for good, and so has a PostgreSQL server with its databases.
    Word("cluster", r"[Cc]luster(?<!list_failure_cluster)(?<!of this cluster)(?<!NATS cluster)(?<!JetStream cluster)(?<!info\.Cluster)(?<!stream\.get\(\Wcluster)(?<!Redis Cluster)(?! \{)", "group", "cluster"),
    # The column failure_class keeps its name: a query that calls something else error_class groups by that, not by a column.
    Word("failure class", r"[Ff]ailure ?[Cc]lass", "error class", "failure"),
    Word("kind of error", r"\b[Kk]inds? of (?:errors?|failures?)\b", "error class, or group", "kind"),
    Word("ring", r"[Rr](?<![\w-].)(?:ings?|inging|ung|ang)\b", "notify, wake", "r",
         spared=("docs/how-to/quiet-doorbell.md",)),
    Word("sleeper", r"[Ss]leepers?\b", "idle worker", "sleeper"),
    Word("look", r"\b(?i:an?|the|another|one|more|each|every|first|last|next|no|two) looks?\b(?! at)",
         "check, scan, claim", "look", spared=("console/src/styles/",)),
    # The key `cycle` of a history entry stays.
    Word("cycle", r"\b(?i:a|this|that|the|current|earlier|new|closed|failed|last|first|second) cycles?\b|\"cycle \"",
         "replay N, since the last replay", "cycle"),
    # The error code of that name is about disks and connections; the key of a handler's progress is what stores hold.
    Word("exhausted", r"exhausted\b(?<!ErrorCode::exhausted)(?<!\"exhausted)(?<!'exhausted)", "out of attempts", "exhausted",
         spared=("docs/reference/errors.md", "include/sluice/result.hpp", "src/core/result")),
    Word("give up", r"\b(?i:events?|handlers?|consumers?) (?:that |which |who )?(?:gave|gives?) up\b",
         "run out of attempts", " up"),
    Word("retry_after", r"retry_after\b", "next retry at, scheduled for", "retry_after", suffixes=(".md",)),
    Word("retry_after", r'"retry_after"', "next retry at, scheduled for", "retry_after", folders=("src/cli/",)),
    Word("waits since", r"\b[Ww]aits since\b", "waiting for", "waits since"),
    Word("Ear", part("ear"), "listener connection", "ear"),
    Word("Baton", part("baton"), "notification lock", "baton"),
    Word("Courier", part("courier"), "HTTP client", "courier"),
    Word("VainLooks", r"[Vv]ain_?[Ll]ooks?", "idle backoff", "vain"),
    Word("Desk", part("desk"), "the name of what it does", "desk"),
    Word("Manager", r"\b\w*Manager\b", "the name of its duty", "manager", suffixes=CODE),
    Word("Helper", r"\b\w*Helpers?\b", "the name of its duty", "helper", suffixes=CODE),
    Word("Util", r"\b\w*Utils?\b", "the name of its duty", "util", suffixes=CODE),
    Word("Common", r"\b\w*Common\b", "the name of its duty", "common", suffixes=CODE),
)

# What was said, and how to say it.
PHRASES = {
    "committed with your data and reach their handlers": "Commit events with your data; Sluice delivers them",
    "a publisher and a handler, whole": "A complete publisher and handler",
    "flat under a held snapshot": "claim cost stays constant while an old snapshot is held",
    "rings only for sleepers": "can notify only when every worker is idle",
    "one terminal and a half": "two terminals",
    "nothing else is copied than": "This copies only",
    "with which nobody can write": "a lock that blocks writers",
    "are all there is": "The pull API has three requests",
    "the world moved": "the state changed since you read it",
    "as the machine will have it": "runs land on either side",
    "without a restart of anybody": "no restart needed",
    "may come once came twice": "duplicate header",
    "dead letters wait for somebody": "dead letters need review",
    "oldest waits 0 s": "Oldest waiting: –",
    "events that give up": "Events that run out of attempts",
    "what is left stays dead": "the rest stay dead letters",
    "delivered without running any handler": "already handled; will be marked delivered",
    "verified: every event has its outcome": "All events accounted for.",
    "check that the daemon runs": "Is `sluice serve` running?",
    "changes made to it": "Audit history",
    "outbox tombstoned": "Events to tombstone",
    "nobody can be asked here": "not a terminal: pass --yes to confirm",
    "is live and cannot become live": "is already live",
    "is no filter key": "unknown filter key",
    "--reason must say why": "--reason is required (recorded in the audit)",
    "--help` tells more": "see `… --help`",
    "again and again, until ctrl-c": "refresh until Ctrl-C",
    "the winner and the losers": "which source wins, and what it overrides",
    "ok store-unreachable": "ok store",
    "ok listener-deaf": "ok listener",
    "status_result=retry": "delivery failed, will retry",
    "rings the channel": "notifies workers",
    "put a proxy before it": "put a reverse proxy in front of it",
    "the receiver is mended": "the receiver is fixed",
    "whoever waited still waits": "say who waits, and for what",
    "of an answer without an end": "say what the answer lacks: a length",
    "what comes behind the body is not the head": "say which bytes are refused",
    "fenced ones are in other hands": "say who has claimed the events meanwhile",
}

MARKS = {"//", "///", "--", "#", "*"}
CODE_OF_A_PAGE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def prose(text):
    return CODE_OF_A_PAGE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def found(tree):
    """The problems by word and path."""
    by_key = {}
    for path, text in tree.texts.items():
        small = text.lower()
        for word in WORDS:
            if word.stem not in small or not word.applies(path):
                continue
            read = prose(text) if word.suffixes == (".md",) else text
            for match in word.regex.finditer(read):
                problem = Problem(path, line_of(read, match.start()), f"`{match.group()}`: say {word.use}")
                by_key.setdefault((word.name, path), []).append(problem)
        for phrase, better in phrases(small):
            by_key.setdefault((phrase, path), []).append(Problem(path, _line(small, phrase), f"`{phrase}`: say `{better}`"))
    return by_key


def phrases(small):
    """Lines are joined over the marks of comments, so that a phrase is found where it wraps."""
    joined = " ".join(word for word in small.split() if word not in MARKS)
    return [(phrase, better) for phrase, better in PHRASES.items() if phrase in joined]


def _line(small, phrase):
    pattern = r"\s+(?:(?://+|--|#|\*)\s+)?".join(re.escape(word) for word in phrase.split())
    match = re.search(pattern, small)
    return line_of(small, match.start()) if match else 1


def read_known(text):
    """A line is a path, a count and a word."""
    known = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            path, count, word = line.split(" ", 2)
            known[word, path] = int(count)
    return known


def problems(tree, known):
    yield from unknown(found(tree), known, LISTED_IN)


def shrink(tree):
    """Lowers the list to what is there. Returns by how much."""
    before = LIST.read_text()
    after = shrunk(before, tree)
    LIST.write_text(after)
    return sum(read_known(before).values()) - sum(read_known(after).values())


def shrunk(text, tree):
    """The list without what is no longer there; nothing is added to it."""
    here = {key: len(items) for key, items in found(tree).items()}
    kept = {key: min(count, here[key]) for key, count in read_known(text).items() if key in here}
    head = [line for line in text.splitlines() if line.startswith("#")]
    rows = sorted(f"{path} {count} {word}" for (word, path), count in kept.items())
    return "\n".join(head + rows) + "\n"
