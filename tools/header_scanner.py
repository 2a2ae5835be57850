# SPDX-License-Identifier: MIT
"""Finds the declarations of a header, with their `///` comments. Not a C++ parser: it knows the style that .clang-format and
tools/check_headers enforce.
"""
import dataclasses
import re

from cpp_tokens import OPENING, assignment, function_name, index_of_closing, is_copy_or_move, parameter_list, tokens_of

MOST_SHOWN = 110  # characters of a variable with its value
INTERNAL = "// Internal."  # the members of a class after this line, up to the next access specifier, are not public
TYPES = ("class", "struct", "union", "enum")


@dataclasses.dataclass
class Declaration:
    kind: str  # namespace, class, struct, enum, concept, alias, macro, constructor, function, constant, field, enumerator
    name: str  # without scope: "op", "operator bool"
    scope: tuple  # ("aton", "dsl", "graph")
    signature: str  # on one line, without the body
    body: str  # of a function or variable, as written
    doc: list  # lines, without the slashes
    header: str  # "aton/dsl/graph.hpp"
    line: int
    members: list = dataclasses.field(default_factory=list)
    has_body: bool = False  # a function that is defined here
    is_routine: bool = False  # defaulted, deleted, copied, moved, compared or destroyed
    is_friend: bool = False  # a function that is declared in a class without being a member
    template: list = dataclasses.field(default_factory=list)  # the lines in front of the signature

    @property
    def qualified(self):
        return "::".join((*self.scope, self.name))


class Scanner:
    """One header."""

    def __init__(self, header, text, *, everything=False):
        """`everything`: private members and namespaces of details, too."""
        self.header = header
        self.everything = everything
        self.text = text
        self.undefined = set(re.findall(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", text, re.MULTILINE))
        self.tokens = tokens_of(text)
        self.at = 0

    def line(self, token):
        return self.text.count("\n", 0, token.start) + 1

    def closing(self, at):
        """The position of the bracket that closes the one at this position."""
        depth = 0
        while True:
            token = self.tokens[at]
            if token.kind == "mark":
                depth += (token.text in OPENING) - (token.text in OPENING.values())
                if depth == 0:
                    return at
            at += 1

    def scan(self, scope, *, of_class=None, public=True):
        """The declarations up to the brace that closes the scope, or to the end."""
        found, doc, doc_end, last = [], [], 0, None
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "comment":
                if token.text.startswith("///<"):
                    self.add_trailing(last, token)
                elif token.text.startswith("///"):
                    doc = doc if doc and self.text[doc_end:token.start].count("\n") == 1 else []
                    doc.append(token.text[3:].removeprefix(" ").rstrip())
                    doc_end = token.end
                elif token.text == INTERNAL and of_class:
                    public = False
                self.at += 1
            elif token.kind == "directive":
                self.add_macro(found, token, doc)
                last = None
                self.at += 1
                doc = []
            elif token.text == "}":
                return found
            elif token.text == ";":
                self.at += 1
            elif of_class and token.text in ("public", "private", "protected") and self.tokens[self.at + 1].text == ":":
                public = token.text == "public"
                self.at += 2
            else:
                declared = self.declaration(scope, of_class, doc)
                last = declared if isinstance(declared, Declaration) else None
                if declared is not None and (public or self.everything):
                    found += declared if isinstance(declared, list) else [declared]
                doc = []
        return found

    @staticmethod
    def add_trailing(last, token):
        """`///<` after a declaration; continued on lines of its own."""
        if last is not None:
            last.doc.append(token.text[4:].strip())

    def add_macro(self, found, token, doc):
        macro = re.match(r"\s*#\s*define\s+(\w+)(\([^)]*\))?", token.text)
        if macro and macro.group(1) not in self.undefined:
            found.append(Declaration("macro", macro.group(1), (), macro.group(1) + (macro.group(2) or ""), token.text, doc, self.header, self.line(token)))

    def declaration(self, scope, of_class, doc):
        """Reads one declaration. None: it declares nothing of its own (a friend class, a specialization, a using-declaration)."""
        first = self.at
        line = self.line(self.tokens[first])
        if self.tokens[first].text in ("namespace", "inline") and self.is_namespace(first):
            return self.namespace(scope, doc, line)
        template = self.skip_template()
        head = self.at
        word = self.tokens[head].text
        if word == "friend":
            head += 1
        if word in TYPES:
            return self.type(scope, doc, line, template, word)
        end, body = self.skip_to_end()
        if word in ("using", "static_assert", "extern", "typedef"):
            return self.alias(scope, doc, line, template, head, end) if word == "using" else None
        found = self.entity(scope, of_class, doc, line, template, head, end, body)
        if found is not None:
            found.is_friend = word == "friend"
        return found

    def is_namespace(self, at):
        return self.tokens[at].text == "namespace" or self.tokens[at + 1].text == "namespace"

    def namespace(self, scope, doc, line):
        while self.tokens[self.at].text != "namespace":
            self.at += 1
        self.at += 1
        names = []
        while self.tokens[self.at].text != "{":
            if self.tokens[self.at].text == ";":  # namespace budget = aton::budget;
                self.at += 1
                return None
            if self.tokens[self.at].kind == "word" and self.tokens[self.at].text != "inline":
                names.append("aton" if self.tokens[self.at].text == "ATON_NAMESPACE" else self.tokens[self.at].text)
            self.at += 1
        if any(name.endswith("detail") for name in names) and not self.everything:
            self.at = self.closing(self.at) + 1
            return None
        self.at += 1
        inner = self.scan((*scope, *names))
        self.at += 1
        described = [Declaration("namespace", "::".join(names), scope, "namespace " + "::".join((*scope, *names)), "", doc, self.header, line)] if doc else []
        return described + inner

    def skip_template(self):
        """The text of `template <...> requires ...`, without defaults that only keep a function from being instantiated."""
        parts = []
        while self.tokens[self.at].text == "template":
            start = self.at
            depth, self.at = 0, self.at + 1
            while True:
                text = self.tokens[self.at].text
                if text in OPENING:
                    self.at = self.closing(self.at)
                depth += {"<": 1, ">": -1}.get(text, 0)
                self.at += 1
                if depth == 0:
                    break
            parts.append(self.source(start, self.at))
            if self.tokens[self.at].text == "requires":
                parts.append(self.requires_clause())
            self.skip_comments()
        return [part for part in parts if part != "template <class = void>"]

    def skip_comments(self):
        while self.tokens[self.at].kind == "comment":
            self.at += 1

    def requires_clause(self):
        start = self.at
        self.at += 1
        if self.tokens[self.at].text == "requires":
            self.at += 1
            if self.tokens[self.at].text == "(":
                self.at = self.closing(self.at) + 1
        self.at = self.closing(self.at) + 1
        return self.source(start, self.at)

    def type(self, scope, doc, line, template, word):
        start = self.at
        while self.tokens[self.at].text not in ("{", ";"):
            if self.tokens[self.at].text in ("(", "["):
                self.at = self.closing(self.at)
            self.at += 1
        signature = self.source(start, self.at)
        words = [t.text for t in self.tokens[start:self.at] if t.kind == "word" and t.text not in (*TYPES, "final")]
        name = words[0] if words else ""
        is_specialization = re.match(rf"(?:class|struct)\s+{name}\s*<", signature)
        if self.tokens[self.at].text == ";":
            return None
        close = self.closing(self.at)
        if is_specialization:
            self.at = close + 1
            return None
        found = Declaration(word, name, scope, signature, "", doc, self.header, line, template=template)
        self.at += 1
        if word == "enum":
            self.enumerators(found, close)
        else:
            found.members = self.scan((*scope, name), of_class=name, public=word != "class")
        self.at = close + 1
        return found

    def enumerators(self, found, close):
        start = True
        while self.at < close:
            token = self.tokens[self.at]
            if token.kind == "word" and start:
                last = next(i for i in range(self.at, close + 1) if self.tokens[i].text == "," or self.tokens[i].kind == "comment" or i == close)
                found.members.append(Declaration("enumerator", token.text, (*found.scope, found.name), self.source(self.at, last), "", [], self.header, self.line(token)))
                start = False
            elif token.text == "," or (token.kind == "comment" and token.text.startswith("///")):
                if token.text == ",":
                    start = True
                elif found.members:
                    found.members[-1].doc.append(token.text.lstrip("/<").strip())
            self.at += 1

    def skip_to_end(self):
        """The end of the declaration's head, and its body; the scanner is then behind both."""
        start, assigned, parenthesized = self.at, False, False
        while True:
            token = self.tokens[self.at]
            if token.text == ";":
                end = self.at
                self.at += 1
                return end, ""
            if token.text == "operator":
                self.at += 1
                while self.tokens[self.at].text != "(" or self.tokens[self.at + 1].text == ")" and self.tokens[self.at + 2].text == "(":
                    self.at += 2 if self.tokens[self.at].text == "(" else 1
                continue
            if token.text == "=":
                assigned = True
            if token.text == "(":
                parenthesized = parenthesized or self.tokens[self.at - 1].text not in ("explicit", "alignas", "decltype", "requires")
            if token.text == "{" and parenthesized and not assigned and not self.is_requirement(start):
                close = self.closing(self.at)
                end, body = self.at, self.text[token.start:self.tokens[close].end]
                self.at = close + 1
                return end, body
            if token.text in OPENING:
                self.at = self.closing(self.at)
            self.at += 1

    def is_requirement(self, start):
        """Whether the brace belongs to a requires-expression."""
        at = self.at - 1
        if self.tokens[at].text == ")":
            depth = 0
            while at >= start:
                depth += (self.tokens[at].text == ")") - (self.tokens[at].text == "(")
                at -= 1
                if depth == 0:
                    break
        return self.tokens[at].text == "requires"

    def alias(self, scope, doc, line, template, head, end):
        if self.tokens[head + 2].text != "=":
            return None
        name = self.tokens[head + 1].text
        return Declaration("alias", name, scope, self.source(head, end), "", doc, self.header, line, template=template)

    def entity(self, scope, of_class, doc, line, template, head, end, body):
        """A function, a variable or a concept."""
        tokens = [t for t in self.tokens[head:end] if t.kind != "comment"]
        texts = [t.text for t in tokens]
        if texts[0] in TYPES:
            return None  # a friend
        if texts[0] == "concept":
            return Declaration("concept", texts[1], scope, self.source(head, end), "", doc, self.header, line, template=template)
        paren = parameter_list(tokens)
        assign = assignment(tokens)
        if paren is None or (assign is not None and assign < paren):
            return self.variable(scope, of_class, doc, line, template, tokens, assign, end)
        name = function_name(tokens, paren)
        if paren == 1 and texts[index_of_closing(tokens, paren) + 1:][:1] == ["->"]:
            return None  # a deduction guide
        after = self.initializers(self.closing(self.tokens.index(tokens[paren])) + 1, end)
        signature = self.source(head, after)
        copies = name in (of_class, "operator=") and is_copy_or_move(tokens[paren:], of_class)
        compares = name == "operator==" and bool(of_class) and texts.count(of_class) == 2 and not doc  # all members, as a defaulted one does
        routine = texts[-2:] in (["=", "default"], ["=", "delete"]) or name.startswith("~") or copies or compares
        kind = "constructor" if name == of_class else "function"
        return Declaration(kind, name, scope, signature, body, doc, self.header, line, has_body=bool(body), is_routine=routine, template=template)

    def initializers(self, at, end):
        """Where the signature ends: before `: member(...)`."""
        for index in range(at, end):
            if self.tokens[index].text == ":":
                return index
        return end

    def variable(self, scope, of_class, doc, line, template, tokens, assign, end):
        texts = [t.text for t in tokens]
        stop = assign if assign is not None else len(tokens)
        for index in range(stop):
            if texts[index] in ("{", "[") and index > 0:
                stop = index
                break
        if stop == 0 or texts[stop - 1] == ">":
            return None  # a specialization of a variable template
        name = texts[texts.index("*", texts.index("(")) + 1] if "(" in texts[:stop] and texts[texts.index("(") + 1] == "*" else texts[stop - 1]
        constant = not of_class or "static" in texts
        signature = self.source(self.tokens.index(tokens[0]), end)
        if constant and "detail::" in signature[signature.find(name):] or len(signature) > MOST_SHOWN:
            signature = self.source(self.tokens.index(tokens[0]), self.tokens.index(tokens[stop - 1]) + 1)
        return Declaration("constant" if constant else "field", name, scope, signature, "", doc, self.header, line, template=template)

    def source(self, first, end):
        """The text of tokens on one line, without comments and attributes."""
        out, last = "", None
        at = first
        while at < end:
            token = self.tokens[at]
            if token.text == "[" and self.tokens[at + 1].text == "[":
                at = self.closing(at) + 1
                continue
            if token.kind not in ("comment", "directive"):
                between = last is not None and self.text[last.end:token.start].strip() == "" and last.end != token.start
                gap = last is not None and (between or (self.text[last.end:token.start].strip() != "" and last.text not in "([" ))
                out += (" " if gap and out else "") + token.text
                last = token
            at += 1
        return re.sub(r"\( ", "(", out).strip()
