"""Reads the names of structures, members and enumerators of packet headers, and compiles programs that print words."""

import re
import subprocess
import tempfile
from pathlib import Path


def members(text):
    """The members of a structure's body: (path, name, enumeration or None, array length or None) of each, in order."""
    tokens = re.findall(r"\w+|[{}:;\[\]]", text)
    position = 0

    def block(path):
        nonlocal position
        found = []
        while position < len(tokens) and tokens[position] != "}":
            if tokens[position] in ("struct", "union") and tokens[position + 1] == "{":
                position += 2
                inner = block(())
                position += 1
                name = ()
                if tokens[position] != ";":
                    name = (tokens[position],)
                    position += 1
                position += 1
                found += [(path + name + p, n, e, a) for p, n, e, a in inner]
                continue
            end = tokens.index(";", position)
            words = [t for t in tokens[position:end] if t not in ("unsigned", "enum", "union", "struct")]
            kind = words[0]
            name = words[1] if kind not in ("int",) or len(words) > 1 else words[0]
            array = int(words[words.index("[") + 1]) if "[" in words else None
            position = end + 1
            found.append((path, name, kind if kind.lower().endswith("enum") or "_enum" in kind else None, array))
        return found

    return block(())


class Header:
    """What a header declares, by name."""

    def __init__(self, path):
        text = path.read_text()
        text = re.sub(r"/\*.*?\*/", "", re.sub(r"//[^\n]*", "", text), flags=re.S)
        self.path = path
        self.enums = {}
        for name, body in re.findall(r"enum (\w+)\s*\{([^}]*)\}", text):
            self.enums[name] = re.findall(r"(\w+)\s*=", body)
        self.structs = {}
        for name, body in re.findall(r"typedef (?:struct|union) (\w+)\s*\{(.*?)\n\} \1;", text, re.S):
            self.structs[name] = members(body)
        for name, body in re.findall(r"^struct (\w+)\s*\{(.*?)^\};", text, re.S | re.M):
            self.structs[name] = members(body)
        self.sizes = re.findall(r"\b(PM4_\w+)_SIZEDW__(\w+)\s*=", text)


PRELUDE = """
#include <cstdint>
#include <cstdio>
#include <cstring>
#define LITTLEENDIAN_CPU 1
typedef uint32_t uint32;
"""

TOOLS = """
template <class T> static void fill(T &value) { memset(&value, 0, sizeof value); }
static void words(const char *what, const void *from, unsigned dwords) {
    uint32_t word;
    printf("%s :", what);
    for (unsigned i = 0; i < dwords; i++) {
        memcpy(&word, (const char *)from + 4 * i, 4);
        printf(" %x", (unsigned)word);
    }
    printf("\\n");
}
static void number(const char *what, unsigned long value) { printf("%s %lx\\n", what, value); }
"""


def run(includes, declarations, statements):
    """Compiles statements behind includes, runs them, and gives the lines printed."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "words.cpp"
        text = PRELUDE + "".join(f'#include "{path}"\n' for path in includes) + declarations + TOOLS
        source.write_text(text + "int main() {\n" + "\n".join(statements) + "\n}\n")
        program = Path(folder) / "words"
        subprocess.run(["clang++-19", "-std=c++17", "-w", "-o", program, source], check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
