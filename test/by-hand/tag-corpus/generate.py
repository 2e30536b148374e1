"""
Generates the corpus of tags and lengths into a folder, with manifest.json: what each file should be read as.

    /usr/bin/python3 generate.py FOLDER

Needs ffmpeg, flac, opus-tools, lame and mutagen. Files are the same in each run of the same programs.
"""
import json
import pathlib
import struct
import subprocess
import sys

# Nothing is written beside the sources.
sys.dont_write_bytecode = True
import frames as f
from mutagen.apev2 import APEv2
from mutagen.flac import FLAC
from mutagen.id3 import ID3, TALB, TCON, TIT2, TPE1, TPE2, TXXX
from mutagen.mp4 import MP4, MP4FreeForm
from mutagen.oggopus import OggOpus
from mutagen.oggvorbis import OggVorbis

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
base_folder = folder / "base"
base_folder.mkdir(exist_ok=True)
manifest = {}
TITLE, ARTIST, ALBUM = "Ace of Spades", "Mot\u00f6rhead", "Overkill"


def run(*command, data=None):
    return subprocess.run(command, input=data, check=True, capture_output=True).stdout


def ffmpeg(*arguments, data=None):
    return run("ffmpeg", "-v", "error", "-y", *arguments, data=data)


def base(name, *arguments, seconds=2, source="sine=frequency=440:sample_rate=44100"):
    path = base_folder / name
    ffmpeg("-f", "lavfi", "-i", f"{source}:duration={seconds}", "-bitexact", "-map_metadata", "-1", *arguments, str(path))
    return path.read_bytes()


def add(name, content, reason="", **expected):
    """`reason` says why others read the file differently, or why we do."""
    (folder / name).write_bytes(content)
    expect(name, reason, **expected)


def expect(name, reason="", **expected):
    manifest[name] = {"reason": reason, "expected": expected}


def tagged(name, source, edit, **expected):
    """A copy of a file that mutagen edits."""
    path = folder / name
    path.write_bytes(source)
    edit(path)
    expect(name, **expected)


mp3 = base("plain.mp3", "-c:a", "libmp3lame", "-b:a", "64k", "-id3v2_version", "0", "-write_xing", "1")
bare = base("bare.mp3", "-c:a", "libmp3lame", "-b:a", "64k", "-id3v2_version", "0", "-write_xing", "0")
longer = base("longer.mp3", "-c:a", "libmp3lame", "-q:a", "5", "-id3v2_version", "0", "-write_xing", "1", seconds=20)
flac = base("plain.flac", "-c:a", "flac")
vorbis = base("plain.ogg", "-c:a", "libvorbis", "-q:a", "2", "-serial_offset", "1")
vorbis2 = base("other.ogg", "-c:a", "libvorbis", "-q:a", "2", "-serial_offset", "77", seconds=3)
opus = base("plain.opus", "-c:a", "libopus", "-b:a", "48k", "-serial_offset", "1")
opus2 = base("other.opus", "-c:a", "libopus", "-b:a", "48k", "-serial_offset", "77", seconds=3)
ogg_flac = base("plain.oga", "-c:a", "flac", "-f", "ogg")
m4a = base("plain.m4a", "-c:a", "aac", "-b:a", "64k")
alac = base("alac.m4a", "-c:a", "alac")
aac = base("plain.aac", "-c:a", "aac", "-b:a", "64k")
wav_audio = bytes(0x80 + (index * 7) % 40 for index in range(16000))
plain = {"title": TITLE, "artist": ARTIST}
title, artist = f.text("TIT2", TITLE), f.text("TPE1", ARTIST)

# ID3v2: encodings
QUOTED = "\u201cBeyonc\u00e9\u201d \u2013 Live"
for version in (3, 4):
    for encoding in ("latin1", "utf-16", "utf-16-be", "utf-8"):
        if version == 3 and encoding in ("utf-16-be", "utf-8"):
            continue
        add(f"id3v2{version}-{encoding}.mp3",
            f.id3(version, [f.text("TIT2", TITLE, encoding), f.text("TPE1", ARTIST, encoding)]) + mp3, **plain)
        add(f"id3v2{version}-{encoding}-list.mp3",
            f.id3(version, [title, f.text("TPE1", ["Anna", "Bj\u00f6rk"], encoding)]) + mp3,
            title=TITLE, artist="Anna", artists=["Anna", "Bj\u00f6rk"])
foreign = "mutagen and ffprobe read the bytes as Latin-1, as the tag says"
add("id3v23-utf8-as-latin1.mp3", f.id3(3, [title, f.raw_text("TPE1", ARTIST.encode())]) + mp3, foreign, **plain)
add("id3v23-cp1252-as-latin1.mp3", f.id3(3, [title, f.raw_text("TPE1", QUOTED.encode("cp1252"))]) + mp3, foreign,
    title=TITLE, artist=QUOTED)
add("id3v24-cp1252-as-utf8.mp3", f.id3(4, [title, f.raw_text("TPE1", ARTIST.encode("cp1252"), 3)]) + mp3,
    "mutagen drops the frame, ffprobe keeps invalid bytes", **plain)
add("id3v23-utf16-without-mark.mp3", f.id3(3, [title, f.raw_text("TPE1", ARTIST.encode("utf-16-le"), 1)]) + mp3,
    "ffprobe rejects the text", **plain)
add("id3v23-utf16-big-endian.mp3",
    f.id3(3, [title, f.raw_text("TPE1", b"\xfe\xff" + ARTIST.encode("utf-16-be"), 1)]) + mp3, **plain)
add("id3v23-utf16-odd.mp3",
    f.id3(3, [title, f.raw_text("TPE1", b"\xff\xfe" + ARTIST.encode("utf-16-le") + b"\0", 1)]) + mp3, **plain)
add("id3v23-utf16-as-latin1.mp3",
    f.id3(3, [title, f.raw_text("TPE1", b"\xff\xfe" + ARTIST.encode("utf-16-le"), 0)]) + mp3, foreign, **plain)
add("id3v23-terminated.mp3", f.id3(3, [title, f.raw_text("TPE1", ARTIST.encode("latin1") + b"\0\0")]) + mp3, **plain)
add("id3v22.mp3", f.id3(2, [f.text("TT2", TITLE), f.text("TP1", ARTIST), f.text("TAL", ALBUM)]) + mp3, **plain, album=ALBUM)
add("id3v22-slash.mp3", f.id3(2, [f.text("TT2", TITLE), f.text("TP1", "AC/DC")]) + mp3, title=TITLE, artist="AC/DC")
add("id3v22-list.mp3", f.id3(2, [f.text("TT2", TITLE), f.text("TP1", ["Anna", "Bert"])]) + mp3,
    title=TITLE, artist="Anna", artists=["Anna", "Bert"])
add("id3v23-names-of-22.mp3", f.id3(3, [title, f.frame(3, "TP1\0", f.text("TP1", ARTIST)[1])]) + mp3,
    "iTunes wrote such names; ffprobe stops at them", **plain)

# ID3v2: artists
slash = "a slash separates values in 2.3, and is part of many names"
add("id3v23-slash.mp3", f.id3(3, [title, f.text("TPE1", "AC/DC")]) + mp3, title=TITLE, artist="AC/DC")
add("id3v23-slash-list.mp3", f.id3(3, [title, f.text("TPE1", "Anna/Bert")]) + mp3, slash, title=TITLE, artist="Anna/Bert")
add("id3v23-picard.mp3",
    f.id3(3, [title, f.text("TPE1", "AC/DC feat. Anna"), f.txxx("ARTISTS", "AC/DC/Anna")]) + mp3,
    title=TITLE, artist="AC/DC feat. Anna", artists=["AC/DC", "Anna"])
add("id3v24-picard.mp3",
    f.id3(4, [title, f.text("TPE1", "Anna & Bert"), f.txxx("ARTISTS", "Anna", "Bert")]) + mp3,
    title=TITLE, artist="Anna & Bert", artists=["Anna", "Bert"])
add("id3v24-artists-only.mp3", f.id3(4, [title, f.txxx("Artists", "Anna", "Bert", "Carl")]) + mp3,
    "the others do not join a list into a text", title=TITLE, artist="Anna, Bert & Carl", artists=["Anna", "Bert", "Carl"])
add("id3v24-slash.mp3", f.id3(4, [title, f.text("TPE1", "AC/DC")]) + mp3, title=TITLE, artist="AC/DC")
for version, separator in ((3, None), (3, "/"), (4, None)):
    def edit(path, version=version, separator=separator):
        tag = ID3()
        tag.add(TIT2(encoding=1, text=TITLE))
        tag.add(TPE1(encoding=1, text=["AC/DC", "Anna"]))
        tag.save(path, v2_version=version, v23_sep=separator)
    joined = separator is not None
    tagged(f"mutagen-v2{version}-{'slash' if joined else 'nul'}.mp3", mp3, edit, title=TITLE,
           artist="AC/DC/Anna" if joined else "AC/DC", reason=slash if joined else "",
           **({} if joined else {"artists": ["AC/DC", "Anna"]}))
for version in (3, 4):
    path = folder / f"ffmpeg-v2{version}.mp3"
    ffmpeg("-i", str(base_folder / "plain.mp3"), "-c", "copy", "-bitexact", "-id3v2_version", str(version),
           "-metadata", f"title={TITLE}", "-metadata", "artist=AC/DC", "-metadata", "TXXX=x", str(path))
    expect(path.name, title=TITLE, artist="AC/DC")

# ID3v2: flags and structure
picture = f.frame(3, "APIC", b"\0image/png\0\x03\0" + b"\x89PNG\r\n\x1a\n" + b"\xff\xe0\xff\x00" * 100)
add("id3v23-unsynchronised.mp3", f.id3(3, [picture, f.raw_text("TPE1", b"\xff\xfe" + ARTIST.encode("utf-16-le"), 1), title], 0x80) + mp3,
    **plain, picture=412 - 4)
add("id3v22-unsynchronised.mp3",
    f.id3(2, [f.raw_text("TP1", b"\xff\xfe" + ARTIST.encode("utf-16-le"), 1), f.text("TT2", TITLE)], 0x80) + mp3, **plain)
unsynchronised = f.frame(4, "TPE1", f.unsynchronise(b"\x01\xff\xfe" + "\u00ff\u00e0".encode("utf-16-le")), 0x02)
add("id3v24-unsynchronised-frame.mp3", f.id3(4, [unsynchronised, title], 0x80) + mp3, title=TITLE, artist="\u00ff\u00e0")
wide = "L" * 300
add("id3v24-sizes-of-itunes.mp3",
    f.id3(4, [("USLT", b"\0eng\0" + wide.encode()), title, artist], plain_size=True) + mp3, **plain, lyrics=wide)
add("id3v24-sizes-safe.mp3", f.id3(4, [("USLT", b"\0eng\0" + wide.encode()), title, artist]) + mp3, **plain, lyrics=wide)
add("id3v23-compressed.mp3", f.id3(3, [f.compressed(3, *artist), title]) + mp3, **plain)
add("id3v24-compressed.mp3", f.id3(4, [f.compressed(4, *artist), title]) + mp3, **plain)
add("id3v24-length-indicator.mp3", f.id3(4, [f.frame(4, "TPE1", f.synchsafe(len(artist[1])) + artist[1], 0x01), title]) + mp3, **plain)
add("id3v23-grouped.mp3", f.id3(3, [f.frame(3, "TPE1", b"\x07" + artist[1], 0x20), title]) + mp3,
    "the others read the number of the group as encoding", **plain)
add("id3v24-grouped.mp3", f.id3(4, [f.frame(4, "TPE1", b"\x07" + artist[1], 0x40), title]) + mp3,
    "the others read the number of the group as encoding", **plain)
add("id3v23-encrypted.mp3", f.id3(3, [f.frame(3, "TALB", b"\x01\x02\x03secret", 0x40), title, artist]) + mp3, **plain, album="")
add("id3v23-extended-header.mp3", f.id3(3, [title, artist], 0x40, struct.pack(">IHI", 6, 0, 0)) + mp3, **plain)
add("id3v24-extended-header.mp3", f.id3(4, [title, artist], 0x40, f.synchsafe(6) + b"\x01\x00") + mp3, **plain)
add("id3v24-footer.mp3", f.id3(4, [title, artist], 0x10) + mp3, **plain)
add("id3v23-padding.mp3", f.id3(3, [title, artist], padding=3000) + mp3, **plain)
add("id3v23-two-tags.mp3", f.id3(3, [title, artist]) + f.id3(3, [f.text("TIT2", "Old"), f.text("TPE1", "Older"), f.text("TALB", ALBUM)]) + mp3,
    "mutagen reads the first tag only", **plain, album=ALBUM)
add("id3v23-empty-then-full.mp3", f.id3(3, [], padding=100) + f.id3(3, [title, artist]) + mp3,
    "mutagen reads the first tag only", **plain)
add("id3v23-size-too-large.mp3", f.id3(3, [title, artist], padding=10, size=100_000_0) + mp3,
    "a size beyond the file hides the audio from the others", **plain, seconds=2.04)
add("id3v23-size-too-small.mp3", f.id3(3, [title, artist]) + bytes(5000) + mp3, **plain)
add("id3v23-genres.mp3", f.id3(3, [title, artist, f.text("TCON", "(17)(4)Eurodisco")]) + mp3, **plain, genre="Rock, Disco, Eurodisco")
add("id3v24-genres.mp3", f.id3(4, [title, artist, f.text("TCON", ["17", "Soul (Live)"])]) + mp3, **plain, genre="Rock, Soul (Live)")

# ID3v1, APE
add("id3v1-cp1252.mp3", mp3 + f.id3v1(TITLE.encode(), QUOTED.encode("cp1252"), b"", 17), foreign, title=TITLE, artist=QUOTED, genre="Rock")
add("id3v1-utf8.mp3", mp3 + f.id3v1(TITLE.encode(), ARTIST.encode()), foreign, **plain)
add("id3v1-after-id3v2.mp3", f.id3(3, [title, artist]) + mp3 + f.id3v1(b"Short", b"Short", ALBUM.encode()),
    "the others ignore ID3v1 if there is ID3v2", **plain, album=ALBUM)
items = [("Title", TITLE.encode()), ("Artist", ARTIST.encode()), ("Album", ALBUM.encode())]
add("apev2.mp3", mp3 + f.ape(items), "mutagen reads APE in MP3 only if asked", **plain, album=ALBUM)
add("apev2-without-header.mp3", mp3 + f.ape(items, header=False), "mutagen reads APE in MP3 only if asked", **plain, album=ALBUM)
add("apev2-id3v1.mp3", mp3 + f.ape(items) + f.id3v1(TITLE.encode(), b"Motorhead"), "the others stop at ID3v1", **plain, album=ALBUM)
add("apev2-lyrics3.mp3", mp3 + f.ape(items) + b"LYRICSBEGININD0000200" + b"000021LYRICS200" + f.id3v1(TITLE.encode()),
    "the others stop at ID3v1", **plain, album=ALBUM)
add("apev1-cp1252.mp3", mp3 + f.ape([("Title", TITLE.encode()), ("Artist", ARTIST.encode("cp1252"))], 1000, False),
    "mutagen reads APE in MP3 only if asked", **plain)
add("apev2-list.mp3", mp3 + f.ape([("Title", TITLE.encode()), ("Artist", b"AC/DC\0Anna")]),
    "mutagen reads APE in MP3 only if asked", title=TITLE, artist="AC/DC", artists=["AC/DC", "Anna"])
add("apev2-and-id3v2.mp3", f.id3(3, [title, artist]) + mp3 + f.ape([("Artist", b"Other"), ("Album", ALBUM.encode())]),
    "ID3v2 comes first, as in earlier releases", **plain, album=ALBUM)

# WAV
w = ([("INAM", TITLE.encode()), ("IART", ARTIST.encode("cp1252")), ("IPRD", ALBUM.encode())])
no_info = "mutagen does not read INFO"
add("info-cp1252.wav", f.wave((f.info(w), b""), wav_audio), no_info, **plain, album=ALBUM)
add("info-after-audio.wav", f.wave((b"", f.info(w)), wav_audio), no_info, **plain, album=ALBUM)
add("info-utf8.wav", f.wave((f.info([w[0], ("IART", ARTIST.encode())]), b""), wav_audio), no_info, **plain)
cyrillic = "\u0410\u043b\u043b\u0430"
for page, codec, name in ((1251, "cp1251", cyrillic), (932, "cp932", "\u5b87\u591a\u7530"), (65001, "utf-8", ARTIST)):
    cset = f.chunk("CSET", struct.pack("<HHHH", page, 0, 0, 0))
    add(f"info-cset-{page}.wav", f.wave((cset + f.info([w[0], ("IART", name.encode(codec))]), b""), wav_audio),
        "ffprobe ignores CSET", title=TITLE, artist=name)
add("id3-chunk.wav", f.wave((b"", f.chunk("id3 ", f.id3(3, [title, artist]))), wav_audio), **plain)
add("id3-chunk-and-info.wav", f.wave((f.info([("INAM", b"Old"), ("IPRD", ALBUM.encode())]), f.chunk("ID3 ", f.id3(4, [title, artist]))), wav_audio),
    no_info, **plain, album=ALBUM)
add("id3-chunk-slash.wav", f.wave((b"", f.chunk("id3 ", f.id3(3, [title, f.text("TPE1", "AC/DC")]))), wav_audio), title=TITLE, artist="AC/DC")
large = "mutagen reads RIFF only"
add("rf64.wav", f.wave((f.ds64(16000) + f.info(w), b""), wav_audio, kind="RF64", sizes=(0xFFFFFFFF, 0xFFFFFFFF)), large, **plain)
add("bw64.wav", f.wave((f.ds64(16000) + f.info(w), b""), wav_audio, kind="BW64", sizes=(0xFFFFFFFF, 0xFFFFFFFF)), large, **plain)
add("pipe.wav", f.wave((f.info(w), b""), wav_audio, sizes=(0xFFFFFFFF, 0xFFFFFFFF)), "mutagen trusts the size of a pipe", **plain)
add("pipe-zero.wav", f.wave((f.info(w), b""), wav_audio, sizes=(0, 0)), "mutagen trusts the size of a pipe", **plain)
add("truncated.wav", f.wave((f.info(w), b""), wav_audio)[:-6000], "mutagen trusts the size", **plain)
(folder / "ffmpeg-rf64.wav").write_bytes(base("rf64.wav", "-rf64", "always", "-c:a", "pcm_s16le"))
expect("ffmpeg-rf64.wav", large)
for codec in ("pcm_f32le", "pcm_s24le", "adpcm_ms", "pcm_mulaw"):
    (folder / f"{codec}.wav").write_bytes(base(f"{codec}.wav", "-c:a", codec))
    expect(f"{codec}.wav")

# Vorbis comments
def vorbis_edit(kind, values):
    def edit(path):
        audio = kind(path)
        for name, value in values.items():
            audio[name] = value
        audio.save()
    return edit


comments = {"title": TITLE, "artist": ["AC/DC", "Anna"], "album": ALBUM, "date": "2020-05-01", "albumartist": "Various"}
listed = {"title": TITLE, "artist": "AC/DC", "artists": ["AC/DC", "Anna"], "album": ALBUM}
tagged("list.flac", flac, vorbis_edit(FLAC, comments), **listed, tags={"year": "2020-05-01", "album_artist": "Various"})
tagged("list.ogg", vorbis, vorbis_edit(OggVorbis, comments), **listed)
tagged("list.opus", opus, vorbis_edit(OggOpus, comments), **listed)
picard = {"title": TITLE, "artist": "Anna feat. AC/DC", "artists": ["Anna", "AC/DC"]}
tagged("picard.flac", flac, vorbis_edit(FLAC, picard), **picard)
tagged("long-comments.ogg", vorbis, vorbis_edit(OggVorbis, {**comments, "lyrics": "la " * 2500}), **listed)
tagged("cp1252.flac", flac, vorbis_edit(FLAC, {"title": TITLE, "artist": ARTIST}),
       reason="the others drop the text or keep invalid bytes", **plain)
path = folder / "cp1252.flac"
utf8 = ARTIST.encode()
# Shorter by one byte: a padding character of the value keeps the sizes.
path.write_bytes(path.read_bytes().replace(utf8, ARTIST.encode("cp1252") + b" "))

# Ogg
chain = "the others read the first or the last link only"
add("chained.ogg", vorbis + vorbis2, chain)
add("chained-same-serial.ogg", vorbis + vorbis, chain)
add("chained.opus", opus + opus2, chain)
add("chained-three.opus", opus + opus2 + opus, chain)
long_vorbis = base("long.ogg", "-c:a", "libvorbis", "-q:a", "2", seconds=20)
long_opus = base("long.opus", "-c:a", "libopus", "-b:a", "48k", seconds=20)
add("truncated.ogg", long_vorbis[: len(long_vorbis) * 2 // 3])
add("truncated.opus", long_opus[: len(long_opus) * 2 // 3])
add("damaged.opus", opus2[:9000] + bytes(500) + opus2[9500:], "ffmpeg drops the damaged page, and its time", seconds=3)
ogg_tagged = ffmpeg("-i", str(base_folder / "plain.flac"), "-c:a", "copy", "-bitexact", "-f", "ogg", "-metadata", f"title={TITLE}",
                    "-metadata", "artist=AC/DC", "pipe:1")
add("flac-in-ogg.oga", ogg_tagged, title=TITLE, artist="AC/DC")
raw = ffmpeg("-i", str(base_folder / "plain.flac"), "-f", "wav", "pipe:1")
long_raw = ffmpeg("-i", str(base_folder / "longer.mp3"), "-f", "wav", "pipe:1")
ogg = ("flac", "--silent", "--ogg", "--serial-number=9", "-T", f"TITLE={TITLE}")
piped = run(*ogg, "-T", "ARTIST=AC/DC", "-T", "ARTIST=Anna", "-", "-c", data=raw)
long_piped = run(*ogg, "-", "-c", data=long_raw)
add("flac-in-ogg-from-pipe.oga", piped, "", title=TITLE, artist="AC/DC", artists=["AC/DC", "Anna"])
add("flac-in-ogg-truncated.oga", long_piped[: len(long_piped) // 2], "mutagen trusts the header", title=TITLE)

# FLAC
add("from-pipe.flac", run("flac", "--silent", "-T", f"TITLE={TITLE}", "-", "-c", data=raw), title=TITLE)
piped_ffmpeg = ffmpeg("-i", str(base_folder / "plain.flac"), "-c:a", "flac", "-bitexact", "-f", "flac", "-metadata", f"title={TITLE}", "pipe:1")
add("from-ffmpeg-pipe.flac", piped_ffmpeg, "the header has no length, and the others do not look for one", title=TITLE)
add("truncated.flac", flac[: len(flac) // 2], "the others trust the header")
add("after-id3v2.flac", f.id3(3, [title, artist]) + flac, "mutagen ignores ID3v2 before FLAC", **plain)
add("before-id3v1.flac", flac + f.id3v1(TITLE.encode(), b"Anna"), "the others ignore ID3v1 after FLAC", title=TITLE, artist="Anna")

# MPEG lengths
xing = "the others trust the header"
add("truncated.mp3", longer[: len(longer) // 2], xing)
add("joined.mp3", f.id3(3, [title, artist]) + mp3 + f.id3v1(b"x") + f.id3(3, [f.text("TIT2", "Second")]) + longer, xing, **plain)
add("joined-bare.mp3", bare + bare)
add("no-header.mp3", bare)
silent = base("silent.mp3", "-c:a", "libmp3lame", "-q:a", "2", "-id3v2_version", "0", "-write_xing", "0",
              source="aevalsrc='if(lt(t\\,3)\\,0\\,random(0)-0.5)':s=44100", seconds=6)
add("variable-no-header.mp3", silent, "the others estimate from the first frames")
add("from-the-middle.mp3", bare[150:])
add("trailing-zeros.mp3", bare + bytes(4000), "mutagen estimates")
add("low-rate.mp3", base("low.mp3", "-c:a", "libmp3lame", "-b:a", "24k", "-ar", "16000", "-id3v2_version", "0"))
add("layer2.mp2", base("layer2.mp2", "-c:a", "mp2", "-b:a", "128k"))
add("vbri.mp3", mp3[:4] + bytes(32) + b"VBRI" + struct.pack(">HHHII", 1, 0, 0, len(mp3), 76) + bytes(10) + mp3[72:], "")
add("adts.aac", aac, "the others estimate")
add("adts-id3.aac", f.id3(4, [title, artist]) + aac, "the others estimate", **plain)

# MP4 and others
def mp4_edit(path):
    audio = MP4(path)
    audio["\u00a9nam"], audio["\u00a9ART"], audio["aART"], audio["tmpo"] = TITLE, ["AC/DC", "Anna"], "Various", [120]
    audio["----:com.apple.iTunes:replaygain_track_gain"] = MP4FreeForm(b"-7,5 dB")
    audio.save()


tagged("list.m4a", m4a, mp4_edit, reason="ffprobe reads the last value only", title=TITLE, artist="AC/DC", artists=["AC/DC", "Anna"],
       gain=-7.5, tags={"bpm": "120", "album_artist": "Various"})
tagged("list-alac.m4a", alac, mp4_edit, reason="ffprobe reads the last value only", title=TITLE, artist="AC/DC", artists=["AC/DC", "Anna"])


def mp4_picard(path):
    audio = MP4(path)
    audio["\u00a9nam"], audio["\u00a9ART"] = TITLE, "Anna feat. Bert"
    audio["----:com.apple.iTunes:ARTISTS"] = [MP4FreeForm(b"Anna"), MP4FreeForm(b"Bert")]
    audio.save()


tagged("picard.m4a", m4a, mp4_picard, title=TITLE, artist="Anna feat. Bert", artists=["Anna", "Bert"])
named = ("-metadata", f"title={TITLE}", "-metadata", "artist=AC/DC", "-metadata", f"album={ALBUM}")
for name, arguments in {
    "fragmented.m4a": ("-c:a", "aac", "-movflags", "frag_keyframe+empty_moov"), "faststart.m4a": ("-c:a", "aac", "-movflags", "faststart"),
    "plain.aiff": ("-c:a", "pcm_s16be", "-write_id3v2", "1"), "plain.wma": ("-c:a", "wmav2"), "plain.mka": ("-c:a", "libopus"),
    "plain.webm": ("-c:a", "libopus"), "plain.wv": ("-c:a", "wavpack"), "plain.spx": ("-c:a", "libspeex", "-ar", "16000"),
}.items():
    try:
        base(f"tagged-{name}", *arguments, *named)
    except subprocess.CalledProcessError as error:
        print(f"left out: {name}: {error.stderr.decode()[:200]}")
        continue
    add(name, (base_folder / f"tagged-{name}").read_bytes(), title=TITLE, artist="AC/DC", album=ALBUM)
aiff = base("bare.aiff", "-c:a", "pcm_s16be")
id3_chunk = f.id3(3, [title, f.text("TPE1", "AC/DC")])
id3_chunk += bytes(len(id3_chunk) % 2)
body = aiff[8:] + b"ID3 " + struct.pack(">I", len(id3_chunk)) + id3_chunk
add("id3-chunk-slash.aiff", b"FORM" + struct.pack(">I", len(body)) + body, title=TITLE, artist="AC/DC")

# Gains
for name, value, gain in (("unit", "-7.54 dB", -7.54), ("no-unit", "-7.54", -7.54), ("comma", "-7,54 dB", -7.54), ("plus", "+2.1dB", 2.1)):
    add(f"gain-{name}.mp3", f.id3(3, [title, f.txxx("REPLAYGAIN_TRACK_GAIN", value)]) + mp3, title=TITLE, gain=gain)
    tagged(f"gain-{name}.flac", flac, vorbis_edit(FLAC, {"replaygain_track_gain": value}), gain=gain)
add("gain-rva2.mp3", f.id3(4, [title, f.rva2("track", -4.5)]) + mp3, title=TITLE, gain=-4.5)
add("gain-rva2-album.mp3", f.id3(4, [title, f.rva2("album", -4.5)]) + mp3, title=TITLE, gain=None)
add("gain-ape.mp3", mp3 + f.ape([("replaygain_track_gain", b"-6.0 dB")]), gain=-6)
tagged("gain-r128.opus", opus, vorbis_edit(OggOpus, {"R128_TRACK_GAIN": "-1024"}), gain=1)
head = opus.index(b"OpusHead")
(folder / "gain-header.opus").write_bytes(opus)
expect("gain-header.opus", gain=None)

# Names of tags
add("names.mp3", f.id3(3, [title, artist, f.text("TBPM", "128"), f.text("TPE2", "Various"), f.text("TCOM", "Bach/Busoni"), f.text("TYER", "1999"),
    f.text("TKEY", "Am"), f.txxx("Mood", "calm"), f.txxx("My Field", "mine"), ("COMM", b"\0eng\0Hello"), ("WOAR", b"http://example.com")]) + mp3,
    **plain, tags={"bpm": "128", "album_artist": "Various", "band": "Various", "composer": "Bach/Busoni", "year": "1999",
                   "initial_key": "Am", "mood": "calm", "my field": "mine", "comment": "Hello", "url_artist": "http://example.com"})

# Reasons of files that are generated together with others.
for name, reason in {
    "id3v23-unsynchronised.mp3": "ffprobe does not undo the unsynchronisation of this tag",
    "id3v22-unsynchronised.mp3": "ffprobe does not undo the unsynchronisation of this tag",
    "id3v24-sizes-of-itunes.mp3": "ffprobe reads the sizes as the standard says; iTunes wrote plain numbers",
    "id3v23-compressed.mp3": "ffprobe does not read compressed frames of this version",
    "adpcm_ms.wav": "mutagen does not compute the duration of ADPCM",
    "flac-in-ogg-from-pipe.oga": "the header has 2^31 - 1 samples; the last page tells the duration",
    "from-pipe.flac": "the header has 2^31 - 1 samples; the last frame tells the duration",
    "fragmented.m4a": "mutagen does not read the fragments",
    "plain.wma": "mutagen lists the two tags in which ffmpeg stores the artist",
    "plain.mka": "mutagen does not read Matroska",
    "plain.webm": "mutagen does not read Matroska",
}.items():
    manifest[name]["reason"] = reason

(folder / "manifest.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False))
print(f"{len(manifest)} files in {folder}")
