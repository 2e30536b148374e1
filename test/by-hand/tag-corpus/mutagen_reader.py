"""Prints what mutagen reads of each file of a folder, as one JSON object by file name."""
import json
import pathlib
import sys

import mutagen

NAMES = {
    "title": ("TIT2", "title", "Title", "\u00a9nam"),
    "artist": ("TPE1", "artist", "Artist", "\u00a9ART", "Author"),
    "album": ("TALB", "album", "Album", "\u00a9alb", "WM/AlbumTitle"),
}


def values(tags, names):
    for name in names:
        try:
            found = tags.get(name)
        except Exception:
            continue
        if found is not None:
            found = getattr(found, "text", found)
            return [str(value) for value in (found if isinstance(found, list) else [found])]
    return []


def read(path):
    try:
        audio = mutagen.File(path)
    except Exception as error:
        return {"error": type(error).__name__}
    if audio is None:
        return {"error": "unknown format"}
    result = {name: values(audio.tags or {}, ids) for name, ids in NAMES.items()}
    result["seconds"] = round(getattr(audio.info, "length", 0) or 0, 3)
    return result


files = sorted(path for path in pathlib.Path(sys.argv[1]).iterdir() if path.is_file() and path.suffix != ".json")
print(json.dumps({path.name: read(path) for path in files}, ensure_ascii=False))
