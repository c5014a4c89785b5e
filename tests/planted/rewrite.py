"""Plants faults in C++ text: finds where one fits, and writes the text in which each is behind a number.

A fault is a condition that is negated, a statement that is left out, a constant that is one more, or another value that
is returned. The tokens of the house's style are enough to see them: no type is known, so what a function returns is
read from its head. Where a fault would not compile, or would be none, there is none: in `if constexpr`, declarations of
constants, assertions, template arguments, labels and array bounds.
"""
import dataclasses
import hashlib
import re

TOKEN = re.compile(r"""
    (?P<space>\s+) | (?P<comment>//[^\n]*|/\*.*?\*/) | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<string>R"\((?:.|\n)*?\)"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
  | (?P<number>\.?\d(?:'?[\w.])*) | (?P<word>[A-Za-z_]\w*)
  | (?P<sign>::|->|<=>|<<=|==|!=|<=|>=|&&|\|\||\+\+|--|[-+*/%&|^]=|<<|.)""", re.VERBOSE | re.DOTALL | re.MULTILINE)
SHAPES = {"(": ")", "[": "]", "{": "}"}
NO_CALL = {"return", "if", "while", "for", "switch", "do", "else", "case", "default", "throw", "delete", "new",
           "using", "goto", "break", "continue", "static_assert", "try", "catch", "static_cast", "co_await", "template",
           "friend", "const", "static", "auto", "typename", "public", "private", "protected", "alignas", "operator",
           "sizeof"}
NUMBERS = r"(?:unsigned|int|long|double|(?:std::)?(?:size_t|ptrdiff_t|u?int(?:8|16|32|64)_t))"
KINDS = {"not": "negated condition", "out": "statement left out", "one": "constant + 1", "other": "other return"}


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    start: int
    line: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclasses.dataclass(frozen=True)
class Site:
    kind: str
    start: int  # of what is replaced
    end: int
    line: int
    before: str  # what comes in place of text[start:end], with {n} for the number and {text} for what was there


# What the build with the faults in it leaves out: a library without threads, what is only in builds for release, and
# what stands in for instructions; and of one source, what is for versions of a byte, which another build has.
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?P<what>ifdef|ifndef|if|else|endif)\b[ \t]*(?P<name>\w*)[^\n]*\n",
                       re.MULTILINE)
UNDEFINED, DEFINED = {"WEFT_SERIAL", "NDEBUG"}, {"WEFT_COMPARES_IN_MEMORY"}
NOT_HERE = "versions_are_narrow"


def left_out(text: str) -> list[tuple[int, int]]:
    spans, open_ones = [], []  # of each: whether its first branch is compiled, if known; where one begins that is not
    for match in DIRECTIVE.finditer(text):
        what, name = match["what"], match["name"]
        if what.startswith("if"):
            is_known = what != "if" and name in UNDEFINED | DEFINED
            holds = (what == "ifdef") == (name in DEFINED) if is_known else None
            open_ones.append((holds, match.end() if holds is False else -1))
        elif open_ones:
            holds, begin = open_ones.pop()
            if begin >= 0:
                spans.append((begin, match.start()))
            if what == "else":
                open_ones.append((None, match.end() if holds else -1))
    return spans


def tokens(text: str) -> list[Token]:
    result, line = [], 1
    for match in TOKEN.finditer(text):
        if match.lastgroup not in ("space", "comment", "directive"):
            result.append(Token(match.lastgroup, match[0], match.start(), line))
        line += match[0].count("\n")
    return result


def partners(found: list[Token]) -> dict[int, int]:
    """Each opening bracket's index -> its closing one's. Angle brackets are none here."""
    result, stack = {}, []
    for i, token in enumerate(found):
        if token.text in SHAPES:
            stack.append(i)
        elif token.text in SHAPES.values() and token.kind == "sign" and stack:
            result[stack.pop()] = i
    return result


class Finder:
    def __init__(self, text: str):
        self.text, self.t = text, tokens(text)
        self.pair = partners(self.t)
        self.sites: list[Site] = []
        self.lines = text.split("\n")

    def find(self) -> list[Site]:
        self.scope(0, len(self.t), None)
        return self.sites

    def raw(self, i: int, j: int) -> str:
        """The text of tokens i to j - 1."""
        return self.text[self.t[i].start:self.t[j - 1].end] if j > i else ""

    def add(self, kind: str, i: int, j: int, before: str) -> None:
        self.sites.append(Site(kind, self.t[i].start, self.t[j - 1].end, self.t[i].line, before))

    def scope(self, begin: int, end: int, returns: str | None) -> None:
        """Declarations; of each function in it, the body."""
        head = i = begin
        while i < end:
            text = self.t[i].text
            if text == "{":
                close = self.pair[i]
                words = self.raw(head, i)
                if re.search(r"\benum\b", words):
                    pass
                elif re.match(r"(?:template\s*<.*>\s*)?(?:inline\s+)?(?:class|struct|namespace|union|extern)\b", words,
                              re.DOTALL) and not words.rstrip().endswith(")"):
                    self.scope(i + 1, close, None)
                elif ")" in words and not re.search(r"\bconsteval\b|=\s*$", words):
                    self.body(i + 1, close, self.type_returned(words))
                i = close + 1
                if i < end and self.t[i].text not in (";", ",") and self.t[i - 1].text == "}" and ")" in words and \
                        self.t[i].text == "{":
                    continue  # a list of initialisers: the body comes now, with the same head
                head = i
            elif text == ";" or text == ":" and self.t[i - 1].text in ("public", "private", "protected"):
                head = i = i + 1
            elif text in ("(", "["):
                i = self.pair[i] + 1
            else:
                i += 1

    @staticmethod
    def type_returned(words: str) -> str:
        words = re.sub(r"\[\[.*?\]\]|\b(?:static|inline|constexpr|virtual|explicit|friend)\b", "", words).strip()
        words = re.sub(r"^template\s*<[^{]*?>\s*(?=[\w:]+[\s*])", "", words)
        trailing = re.search(r"->\s*([\w:]+\s*\*?)\s*$", words)
        leading = re.match(r"((?:const\s+)?[\w:]+(?:<[\w:, ]*>)?\s*\*?)\s*[\w:~]+\s*\(", words)
        found = trailing or leading
        kind = found[1].strip() if found else ""
        if kind == "bool":
            return "bool"
        if kind.endswith("*"):
            return "pointer"
        return "number" if re.fullmatch(NUMBERS, kind) else ""

    def body(self, begin: int, end: int, returns: str) -> None:
        """Statements, also those of blocks and of lambdas in it."""
        i, fresh = begin, True  # whether a statement begins at i
        while i < end:
            token = self.t[i]
            text = token.text
            if self.passed_over(i):
                i = self.after_statement(i, end)
                fresh = True
                continue
            if text in ("if", "while") and self.t[i + 1].text == "(":
                self.condition(i + 2, self.pair[i + 1])
                self.inner(i + 2, self.pair[i + 1], returns)
                i, fresh = self.pair[i + 1] + 1, True
                if self.t[i].text == "[" and self.t[i + 1].text == "[":
                    i = self.pair[i] + 1
                continue
            if text == "if" and self.t[i + 1].text == "constexpr":
                is_left_out = self.raw(i + 3, self.pair[i + 2]) == NOT_HERE
                i, fresh = self.pair[i + 2] + 1, True
                if is_left_out:
                    i = self.after_whole_statement(i, end)
                continue
            if text in ("catch", "switch") and self.t[i + 1].text == "(":
                i, fresh = self.pair[i + 1] + 1, True
                continue
            if text == "for" and self.t[i + 1].text == "(":
                self.loop(i + 2, self.pair[i + 1])
                i, fresh = self.pair[i + 1] + 1, True
                continue
            if text == "return" and self.t[i + 1].text != ";":
                stop = self.after_statement(i, end) - 1
                self.returned(i + 1, stop, returns)
                self.inner(i + 1, stop, returns)
                i, fresh = stop + 1, True
                continue
            if text in ("struct", "class", "union") and fresh:
                i = self.after_statement(i, end)
                continue
            if fresh and token.kind == "word" and text not in NO_CALL or fresh and text in ("++", "--"):
                stop = self.after_statement(i, end) - 1
                if self.t[stop].text == ";" and self.is_expression(i, stop):
                    self.add("out", i, stop, "(weft_planted({n}) ? void() : static_cast<void>({text}))")
                    self.inner(i, stop, returns)
                    i, fresh = stop + 1, True
                    continue
            if text == "{":
                is_block = fresh
                (self.body if is_block else self.inner)(i + 1, self.pair[i], returns)
                i, fresh = self.pair[i] + 1, True if is_block else self.t[self.pair[i] + 1].text == "}"
                continue
            if token.kind == "number":
                self.constant(i)
            fresh = text in (";", "}", "else", "do", "try") or text == ":" and self.t[i - 1].text == "default"
            i += 1

    def inner(self, begin: int, end: int, returns: str) -> None:
        """An expression: constants, and bodies of lambdas, of which nobody knows what they return."""
        i = begin
        while i < end:
            text = self.t[i].text
            if text == "{" and self.opens_lambda(i, begin):
                self.body(i + 1, self.pair[i], "")
                i = self.pair[i] + 1
                continue
            if self.t[i].kind == "number":
                self.constant(i)
            i += 1

    def opens_lambda(self, brace: int, begin: int) -> bool:
        i = brace - 1
        while i > begin and self.t[i].text in ("noexcept", "mutable"):
            i -= 1
        if self.t[i].text == ")":
            opening = next((o for o, c in self.pair.items() if c == i), -1)
            return opening > 0 and self.t[opening - 1].text == "]"
        return self.t[i].text == "]"

    def passed_over(self, i: int) -> bool:
        """What no fault is planted in: constants for the compiler, assertions, labels."""
        text = self.t[i].text
        if text in ("constexpr", "static_assert", "constinit", "case", "using", "template", "asm") or "ASSERT" in text:
            return True
        return text == "static" and self.t[i + 1].text in ("constexpr", "constinit")

    def after_statement(self, i: int, end: int) -> int:
        """The index after the `;` (or the label's `:`) that ends the statement which begins at i."""
        label = self.t[i].text == "case"
        while i < end:
            if self.t[i].text == ";" or label and self.t[i].text == ":":
                return i + 1
            i = self.pair[i] + 1 if self.t[i].text in SHAPES and i in self.pair else i + 1
        return end

    def after_whole_statement(self, i: int, end: int) -> int:
        """The same, also of a block, and of an `if` without `else`."""
        while self.t[i].text == "if":
            i = self.pair[i + 1] + 1
        return self.pair[i] + 1 if self.t[i].text == "{" else self.after_statement(i, end)

    def condition(self, begin: int, end: int) -> None:
        depth0 = [k for k in self.top_level(begin, end)]
        semicolons = [k for k in depth0 if self.t[k].text == ";"]
        if semicolons:
            begin = semicolons[-1] + 1
            depth0 = [k for k in depth0 if k >= begin]
        if begin >= end or any(self.t[k].text == "=" for k in depth0):
            return
        if end - begin == 1 and self.t[begin].text in ("true", "false"):
            return
        self.add("not", begin, end, "weft_planted({n}) != static_cast<bool>({text})")

    def loop(self, begin: int, end: int) -> None:
        semicolons = [k for k in self.top_level(begin, end) if self.t[k].text == ";"]
        if len(semicolons) == 2 and semicolons[0] + 1 < semicolons[1]:
            self.condition(semicolons[0] + 1, semicolons[1])
        self.inner(begin, end, "")

    def top_level(self, begin: int, end: int) -> list[int]:
        result, i = [], begin
        while i < end:
            result.append(i)
            i = self.pair[i] + 1 if self.t[i].text in SHAPES and i in self.pair else i + 1
        return result

    def returned(self, begin: int, end: int, returns: str) -> None:
        if self.t[begin].text == "{":
            return
        if returns == "bool":
            self.add("other", begin, end, "weft_planted({n}) != static_cast<bool>({text})")
        elif returns == "number":
            self.add("other", begin, end, "({text}) + weft_planted({n})")
        elif returns == "pointer" and self.raw(begin, end) != "nullptr":
            self.add("other", begin, end, "weft_planted({n}) ? nullptr : ({text})")

    def constant(self, i: int) -> None:
        token, line = self.t[i], self.lines[self.t[i].line - 1]
        before, after = self.text[token.start - 1], self.text[token.end:token.end + 1]
        if before == "<" or after == ">" or before == "[" and after == "]" or re.search(
                r"\bconstexpr\b|static_assert|ASSERT|alignas|\benum\b|__builtin_", line):
            return
        if re.fullmatch(r"[\d'.]+", token.text) or re.fullmatch(r"\d+[uUlL]+", token.text):
            self.add("one", i, i + 1, "({text} + weft_planted({n}))")

    def is_expression(self, begin: int, end: int) -> bool:
        """Whether it is a call, an assignment or a step, and no declaration: two words never stand side by side."""
        top = self.top_level(begin, end)
        texts = [self.t[k].text for k in top]
        assigned = [k for k in top if self.t[k].text in ("=", "+=", "-=", "|=", "&=", "^=", "*=", "/=")]
        left = [k for k in top if not assigned or k < assigned[0]]
        for a, b in zip(left, left[1:]):
            if self.t[a].kind == "word" and self.t[b].kind == "word" or self.t[a].text in ("*", "&", ">") and \
                    self.t[b].kind == "word":
                return False
            if self.t[b].text == "{" or self.t[a].text == "?":
                return False
        is_step = texts[0] in ("++", "--") or texts[-1] in ("++", "--")
        return bool(assigned) or is_step or self.t[end - 1].text == ")"


def sites(text: str) -> list[Site]:
    out = left_out(text)
    found = [s for s in Finder(text).find() if not any(begin <= s.start < end for begin, end in out)]
    unique = {(s.kind, s.start, s.end): s for s in found}
    return sorted(unique.values(), key=lambda s: (s.start, -s.end))


def digest(line: str) -> str:
    """Of a line, whatever stands before and after it: eight digits."""
    return hashlib.sha256(" ".join(line.split()).encode()).hexdigest()[:8]


def plant(text: str, chosen: dict[Site, int]) -> str:
    """The text with all of them, each behind its number. What lies in another is written inside of it."""
    def write(begin: int, end: int, inside: list[Site]) -> str:
        result, at = "", begin
        while inside:
            site = inside.pop(0)
            within = []
            while inside and inside[0].end <= site.end:
                within.append(inside.pop(0))
            body = write(site.start, site.end, within)
            result += text[at:site.start] + site.before.replace("{n}", str(chosen[site])).replace("{text}", body)
            at = site.end
        return result + text[at:end]
    return write(0, len(text), sorted(chosen, key=lambda s: (s.start, -s.end)))
