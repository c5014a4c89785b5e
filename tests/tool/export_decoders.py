"""What `weft export` writes, read back: decoders of Perfetto's protobuf and of our DOT, written from
the formats' descriptions and not from the writers, and strict: whatever they do not expect is an error.
"""
import collections
import re
import struct


def fields(data):
    """(number, value) of each field of a message: ints for varints, bytes for the rest."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        size = {0: None, 1: 8, 2: -1, 5: 4}[key & 7]
        if size is None:
            yield key >> 3, varint()
            continue
        if size < 0:
            size = varint()
        assert at + size <= len(data), "a field ends behind its message"
        yield key >> 3, data[at:at + size]
        at += size


def one(message, number, default=None):
    values = [v for n, v in fields(message) if n == number]
    assert len(values) <= 1, f"field {number} is there {len(values)} times"
    return values[0] if values else default


def every(message, number):
    return [v for n, v in fields(message) if n == number]


Slice = collections.namedtuple("Slice", "track name category start end notes out into")


class Perfetto:
    """What a reader of the file sees. Field numbers are Perfetto's, written down here a second time on purpose."""

    def __init__(self, data):
        self.tracks, self.counters, self.slices = {}, collections.defaultdict(list), []
        tables = {1: {}, 2: {}, 3: {}}
        open_slices = {}
        last = {}
        for number, (field, packet) in enumerate(fields(data)):
            assert field == 1 and one(packet, 10) == 1
            assert one(packet, 13) == (3 if number == 0 else 2), "the first packet clears the state, all others need it"
            for kind in tables:
                for entry in every(one(packet, 12, b""), kind):
                    assert one(entry, 1) not in tables[kind], "an interned number has two meanings"
                    tables[kind][one(entry, 1)] = one(entry, 2).decode("utf-8")
            if one(packet, 60) is not None:
                self.describe(one(packet, 60))
            event = one(packet, 11)
            if event is None:
                continue
            time, track, kind = one(packet, 8), one(event, 11), one(event, 9)
            assert time >= last.get(track, 0), "time runs backwards on a track"
            last[track] = time
            if kind == 4:
                self.counters[self.tracks[track]].append((time, struct.unpack("<d", one(event, 44))[0]))
            elif kind == 1:
                assert track not in open_slices, "slices of a worker overlap"
                notes = {tables[3][one(n, 1)]: one(n, 6).decode() if one(n, 4) is None else one(n, 4)
                         for n in every(event, 4)}
                flows = [[struct.unpack("<Q", v)[0] for v in every(event, n)] for n in (47, 48)]
                open_slices[track] = (tables[2][one(event, 10)], tables[1][one(event, 3)], time, notes, *flows)
            else:
                assert kind == 2
                name, category, start, notes, out, into = open_slices.pop(track)
                self.slices.append(Slice(self.tracks[track], name, category, start, time, notes, out, into))
        assert not open_slices, "a slice has no end"

    def describe(self, track):
        uuid = one(track, 1)
        assert uuid not in self.tracks
        if one(track, 4):
            assert one(track, 5) == 1 and one(one(track, 4), 1) == 1
            self.tracks[uuid] = one(one(track, 4), 5).decode()
        elif one(track, 3):
            self.tracks[uuid] = one(one(track, 3), 6).decode()
        else:
            assert one(one(track, 8), 3) == 2
            self.tracks[uuid] = one(track, 2).decode()


def dot_strings(text):
    """All quoted strings of a DOT text; what is left must be made of DOT's plain words and signs."""
    quoted = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
    rest = quoted.sub("Q", text)
    for line in rest.splitlines():
        assert re.fullmatch(r"digraph \w+ \{|\}|  (label=Q|(node|edge) \[[\w=Q, -]*\]|Q( -> Q)?( \[[\w=Q, ]*\])?);",
                            line), f"no DOT of ours: {line}"
    return quoted.findall(text)
