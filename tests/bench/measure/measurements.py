"""Reading measurement files as docs/format.md describes them: what fills them and where paths end early."""

import collections
import dataclasses
import functools
import pathlib
import struct
import zlib

HEADER = struct.Struct("<8sHHIIIIIII QQ 64s IIii")
CHUNK = struct.Struct("<HHIQQQ")
RECORD = struct.Struct("<HHI")
METRIC = struct.Struct("<HHIQ")
MODULE = struct.Struct("<II32sQQQQQII")
THREAD = struct.Struct("<II11Q5Q4QIHH16s")
NODE = struct.Struct("<QIHH")
RECORDS, NODES = 1, 2
STEP = 512
NO_OWNER = 0xFFFF_FFFF
REASONS = ("no_module", "no_cfi", "bad_read", "not_advancing", "unsupported")
PARTIAL = 1
MAIN = 1


def inflated(data):
    """The measurement in a sealed file, as far as it is whole; any other as it is."""
    if data[:2] != b"\x1f\x8b":
        return data
    return zlib.decompressobj(wbits=31).decompress(data)


@dataclasses.dataclass
class Thread:
    """One thread's counters."""

    ordinal: int
    cpu_ns: int
    samples: int
    waits: int
    dropped_room: int
    dropped_unready: int
    partial: dict
    truncated: int
    handler_stack: int
    main: bool
    # Where its function is: module's file name and address; none of the main thread.
    start: str | None


class Measurement:
    """One measurement file."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.bytes = inflated(self.path.read_bytes())
        head = HEADER.unpack_from(self.bytes)
        if head[:2] != (b"FALLOFF\n", 1):
            raise ValueError(f"{path}: no measurement file of version 1")
        self.header_len, self.state = head[4], head[9]
        self.next = min(head[11], len(self.bytes))
        self.pid, self.rank, self.ranks = head[13], head[15], head[16]
        self.metrics, self.modules, self.threads = {}, {}, []
        threads = []
        for offset, chunk in self.chunks():
            if chunk[0] == RECORDS:
                threads += self.read_records(offset + CHUNK.size, chunk[4])
        # A thread's start may be in a module whose record comes later.
        self.threads = [self.thread(fields) for fields in threads]

    def chunks(self):
        """Offset and head of each chunk, which uses no more than is there of a file that is cut short."""
        offset = self.header_len
        while offset + CHUNK.size <= self.next:
            chunk = CHUNK.unpack_from(self.bytes, offset)
            if chunk[3]:
                used = min(chunk[4], self.next - offset - CHUNK.size)
                yield offset, (*chunk[:4], used, chunk[5])
            offset += chunk[3] or STEP

    def read_records(self, offset, used):
        """Keeps names of metrics and modules; returns the threads."""
        end, threads = offset + used, []
        while offset + RECORD.size <= end:
            kind, padding, length = RECORD.unpack_from(self.bytes, offset)
            if offset + length > end:
                break
            body = self.bytes[offset + RECORD.size:offset + length - padding]
            if kind == 2:
                self.metrics[METRIC.unpack_from(body)[0]] = body[METRIC.size:].decode()
            elif kind == 3:
                self.modules[MODULE.unpack_from(body)[0]] = body[MODULE.size:].decode()
            elif kind == 4:
                threads.append(THREAD.unpack_from(body))
            offset += length
        return threads

    def thread(self, fields):
        start, flags = fields[21], fields[22]
        return Thread(ordinal=fields[0], cpu_ns=fields[5], samples=fields[8], waits=fields[9],
                      dropped_room=fields[10], dropped_unready=fields[11], partial=dict(zip(REASONS, fields[13:18])),
                      truncated=fields[18], handler_stack=fields[20], main=bool(flags & MAIN),
                      start=self.place(start) if start else None)

    def place(self, frame):
        """Module's file name and address of a frame."""
        name = pathlib.Path(self.modules.get(frame >> 48, "?")).name
        return f"{name}+{frame & 0xFFFF_FFFF_FFFF:#x}"

    @functools.cached_property
    def nodes(self):
        """Of each node by its id: owner, frame, parent, values by metric's name."""
        nodes = {}
        for offset, (kind, _, owner, _, used, mask) in self.chunks():
            if kind != NODES:
                continue
            names = [self.metrics[bit] for bit in range(64) if mask >> bit & 1]
            size = NODE.size + 8 * len(names)
            for at in range(offset + CHUNK.size, offset + CHUNK.size + used - size + 1, size):
                frame, parent, _, _ = NODE.unpack_from(self.bytes, at)
                values = struct.unpack_from(f"<{len(names)}Q", self.bytes, at + NODE.size)
                nodes[at // 8] = owner, frame, parent, dict(zip(names, values))
        return nodes

    def contents(self):
        """Used bytes and count by what they are, and what lies empty in claimed chunks."""
        filled = collections.defaultdict(lambda: [0, 0])
        for _, (kind, _, owner, length, used, mask) in self.chunks():
            carried = [self.metrics[bit] for bit in range(64) if mask >> bit & 1]
            size = NODE.size + 8 * len(carried)
            what = "records" if kind == RECORDS else f"thread {owner}, nodes of {'+'.join(carried) or 'callers'}"
            filled[what][0] += used
            filled[what][1] += used // size if kind == NODES else 1
            filled["claimed and empty"][0] += length - CHUNK.size - used
            filled["heads of chunks"][0] += CHUNK.size
            filled["heads of chunks"][1] += 1
        return dict(filled)

    def partial_ends(self):
        """Where paths end that do not reach their root: the outermost frame found, with thread and number of nodes
        with values, and their samples."""
        ends = collections.defaultdict(lambda: [0, 0])
        for owner, frame, parent, values in self.nodes.values():
            if not values:
                continue
            above, hit = parent, frame
            while above in self.nodes and self.nodes[above][1] != PARTIAL:
                hit, above = self.nodes[above][1], self.nodes[above][2]
            if above in self.nodes:
                end = ends[owner, self.place(hit), self.place(frame)]
                end[0] += 1
                end[1] += values.get("samples", 0)
        return dict(ends)


def read_all(run):
    """All measurement files of a run directory, by rank."""
    files = map(Measurement, pathlib.Path(run, "measurements").glob("*.falloff"))
    return sorted(files, key=lambda file: (file.rank, file.pid))
