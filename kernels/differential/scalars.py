"""The types of OpenCL C that programs use."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Type:
    name: str  # of one element
    kind: str  # i: signed, u: unsigned, f: floating point
    bits: int
    lanes: int = 1

    def __str__(self):
        return self.name + (str(self.lanes) if self.lanes > 1 else "")

    @property
    def size(self):
        """Bytes that the elements take; a vector of three has no padding here."""
        return self.bits // 8 * self.lanes

    @property
    def element(self):
        return replace(self, lanes=1)

    def vector(self, lanes):
        return replace(self, lanes=lanes)

    @property
    def integer(self):
        """The unsigned integer, or vector of integers, of the same width."""
        return UNSIGNED[self.bits].vector(self.lanes)

    @property
    def mask(self):
        """What comparing vectors of this type gives."""
        return SIGNED[self.bits].vector(self.lanes)


INTEGERS = [Type(n, k, b) for b, s, u in ((8, "char", "uchar"), (16, "short", "ushort"), (32, "int", "uint"), (64, "long", "ulong"))
            for n, k in ((s, "i"), (u, "u"))]  # fmt: skip
FLOATS = [Type("half", "f", 16), Type("float", "f", 32), Type("double", "f", 64)]
SCALARS = INTEGERS + FLOATS
NAMED = {t.name: t for t in SCALARS}
SIGNED = {t.bits: t for t in INTEGERS if t.kind == "i"}
UNSIGNED = {t.bits: t for t in INTEGERS if t.kind == "u"}
INT, UINT, ULONG, FLOAT, DOUBLE, HALF = (NAMED[n] for n in ("int", "uint", "ulong", "float", "double", "half"))
