"""Tags and containers that no program writes, byte by byte."""
import struct
import zlib

ENCODINGS = {"latin1": 0, "utf-16": 1, "utf-16-be": 2, "utf-8": 3}


def synchsafe(size):
    return bytes((size >> shift) & 0x7F for shift in (21, 14, 7, 0))


def text_bytes(values, encoding):
    """A list of texts in an encoding, each of UTF-16 with its mark."""
    if encoding == "utf-16":
        return b"\0\0".join(b"\xff\xfe" + value.encode("utf-16-le") for value in values)
    end = b"\0\0" if encoding == "utf-16-be" else b"\0"
    return end.join(value.encode(encoding) for value in values)


def text(frame, values, encoding="latin1"):
    values = [values] if isinstance(values, str) else values
    return frame, bytes([ENCODINGS[encoding]]) + text_bytes(values, encoding)


def raw_text(frame, content, encoding=0):
    return frame, bytes([encoding]) + content


def txxx(name, *values):
    return "TXXX", b"\0" + b"\0".join(part.encode("latin1") for part in (name, *values))


def rva2(name, decibels):
    return "RVA2", name.encode() + b"\0\x01" + struct.pack(">h", round(decibels * 512)) + b"\0"


def unsynchronise(content):
    result = bytearray()
    for index, byte in enumerate(content):
        result.append(byte)
        following = content[index + 1] if index + 1 < len(content) else 0xFF
        if byte == 0xFF and (following == 0 or following >= 0xE0):
            result.append(0)
    return bytes(result)


def frame(version, name, content, flags=0, plain_size=False):
    if version == 2:
        return name.encode() + struct.pack(">I", len(content))[1:] + content
    safe = version == 4 and not plain_size
    size = synchsafe(len(content)) if safe else struct.pack(">I", len(content))
    return name.encode() + size + bytes([0, flags]) + content


def compressed(version, name, content):
    packed = zlib.compress(content)
    if version == 3:
        return frame(3, name, struct.pack(">I", len(content)) + packed, 0x80)
    return frame(4, name, synchsafe(len(content)) + packed, 0x09)


def id3(version, frames, flags=0, before=b"", padding=0, size=None, plain_size=False):
    """Frames are pairs of name and content, or whole frames."""
    parts = [part if isinstance(part, bytes) else frame(version, *part, plain_size=plain_size) for part in frames]
    body = before + b"".join(parts) + bytes(padding)
    if flags & 0x80 and version < 4:
        body = unsynchronise(body)
    header = bytes([version, 0, flags]) + synchsafe(len(body) if size is None else size)
    footer = b"3DI" + header if flags & 0x10 else b""
    return b"ID3" + header + body + footer


def id3v1(title=b"", artist=b"", album=b"", genre=255, year=b""):
    field = lambda value, size: value[:size].ljust(size, b"\0")
    return b"TAG" + field(title, 30) + field(artist, 30) + field(album, 30) + field(year, 4) + bytes(30) + bytes([genre])


def ape(items, version=2000, header=True):
    body = b""
    for name, value in items:
        body += struct.pack("<II", len(value), 0) + name.encode() + b"\0" + value
    block = lambda flags: b"APETAGEX" + struct.pack("<IIII", version, len(body) + 32, len(items), flags) + bytes(8)
    return (block(0xA0000000) if header else b"") + body + block(0x80000000 if header else 0)


def chunk(name, content):
    return name.encode() + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)


def info(items):
    return chunk("LIST", b"INFO" + b"".join(chunk(name, value + b"\0") for name, value in items))


def wave(chunks, samples=b"", rate=8000, kind="RIFF", sizes=None):
    """PCM of 8 bits, one channel. `sizes` replaces the sizes of the file and of the audio."""
    fmt = chunk("fmt ", struct.pack("<HHIIHH", 1, 1, rate, rate, 1, 8))
    before, after = chunks
    data = chunk("data", samples)
    if sizes:
        data = b"data" + struct.pack("<I", sizes[1]) + samples
    body = b"WAVE" + before + fmt + data + after
    return kind.encode() + struct.pack("<I", sizes[0] if sizes else len(body)) + body


def ds64(audio_bytes):
    return chunk("ds64", struct.pack("<QQQI", audio_bytes + 100, audio_bytes, audio_bytes, 0))
