"""A file is a chapter and a function fits on a page."""
import ast
import re

from tree import CODE, Problem, line_in_list, line_of

FILE_LINES = 400
FUNCTION_LINES = 70
MEASURED = CODE + (".sql", ".py", ".mjs", ".ts", ".svelte")
LISTED_IN = "tests/tidy/known.py"

# In this order: a quote in a comment and two slashes in a text mean nothing.
OPAQUE = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
TYPE = re.compile(r"\b(?:class|struct|union|enum|namespace)\b[^()]*$|^\s*extern\b[^()]*$")
MARK = re.compile(r"[{};]|\b(?:public|private|protected):")
NAME = re.compile(r"([\w:~]+|operator\s*\S+?)\s*\(")
SQL_BODY = re.compile(r"create (?:or replace )?(?:function|procedure) ([\w.]+).*?\$(\w*)\$.*?\$\2\$", re.DOTALL | re.IGNORECASE)


def _blank(match):
    text = match.group()
    return "\n".join(" " * len(line) for line in text.split("\n")) if "\n" in text else " " * len(text)


def code_only(text):
    """The text with comments, literals and preprocessor lines blanked out; offsets stay."""
    return PREPROCESSOR.sub(_blank, OPAQUE.sub(_blank, text))


def cpp_functions(text):
    """(name, first line, lines) of each function, lambdas inside it included; nothing where none can be too long.

    clang-format decides: a brace that opens a block has a space before it, one that makes a value has none.
    """
    code = code_only(text)
    if not _has_long_stretch(code):
        return
    head, around, depth = 0, [], 0  # where the present declaration begins, the open braces outside, those of a function
    for match in MARK.finditer(code):
        at, mark = match.start(), match.group()
        if depth > 0:
            depth += {"{": 1, "}": -1}.get(mark, 0)
            if depth == 0:
                begun = head + len(code[head:at]) - len(code[head:at].lstrip())
                first, last = line_of(code, begun), line_of(code, at)
                yield _name(code[begun:at]), first, last - first + 1
                head = match.end()
            continue
        kind = ""
        if mark == "{":
            kind = _kind(code, head, at)
            if kind == "body":
                depth = 1
                continue
            around.append(kind)
        elif mark == "}" and around:
            kind = around.pop()
        if kind != "value" and "value" not in around:
            head = match.end()


def _has_long_stretch(code):
    """No function goes beyond a brace at the margin: where those are near each other, there is nothing to measure."""
    ends = [line for line, text in enumerate(code.split("\n")) if text.startswith("}")]
    return any(end - start > FUNCTION_LINES for start, end in zip([-1] + ends, ends))


def _kind(code, head, at):
    before = code[head:at]
    if at > 0 and not code[at - 1].isspace() or before.rstrip().endswith(("=", ",", "(")):
        return "value"
    declared = re.sub(r"template\s*<[^{}]*?>(?=\s*(?:class|struct|union|requires|[\w:]))", "", before)
    return "body" if "(" in before and not TYPE.search(declared) else "scope"


def _name(text):
    match = NAME.search(text)
    if not match:
        return "?"
    if match.group(1) in ("TEST", "TEST_F", "TEST_P"):
        return ".".join(re.findall(r"\w+", text[match.end():text.index(")")]))
    return match.group(1)


def python_functions(text):
    waiting = ast.parse(text).body
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef):
            waiting += node.body
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def sql_functions(text):
    for match in SQL_BODY.finditer(text):
        yield match.group(1), line_of(text, match.start()), match.group().count("\n") + 1


def functions(path, text):
    if text.count("\n") <= FUNCTION_LINES:
        return ()
    if path.endswith(CODE):
        return cpp_functions(text)
    if path.endswith(".py"):
        return python_functions(text)
    return sql_functions(text) if path.endswith(".sql") else ()


def problems(tree, known):
    """`known`: lines by path, or by path and function. It may get shorter; at the limit its entry goes."""
    needed = set()
    for path, text in tree.ending(*MEASURED):
        measured = [(path, 1, text.count("\n"), FILE_LINES, "the file", "split it by duty")]
        measured += [(f"{path} {name}", line, lines, FUNCTION_LINES, name, "give its steps names")
                     for name, line, lines in functions(path, text)]
        for key, line, lines, limit, what, todo in measured:
            if lines > limit:
                needed.add(key)
            if lines > max(limit, known.get(key, 0)):
                allowed = f"{known[key]} when it was listed, and it may only shrink" if key in known else f"{limit} at most"
                yield Problem(path, line, f"{what} has {lines} lines, {allowed}: {todo}")
    for key in known:
        if key not in needed:
            yield Problem(LISTED_IN, line_in_list(LISTED_IN, (f'"{key}"',)), f"`{key}` is no longer too long: delete its entry")
