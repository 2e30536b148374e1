"""Debian's websockets package, or urllib for SSE, as a client: prints each frame as a line.

    live-client.py websocket URL MESSAGE
    live-client.py sse URL MESSAGE

The last line of a WebSocket is `closed CODE REASON`.
"""

import asyncio
import sys
import urllib.parse
import urllib.request


async def websocket(url, message):
    import websockets

    async with websockets.connect(url) as socket:
        await socket.send(message)
        try:
            async for frame in socket:
                print(frame, flush=True)
        except websockets.ConnectionClosed:
            pass
        print(f"closed {socket.close_code} {socket.close_reason}", flush=True)


def sse(url, message):
    query = urllib.parse.urlencode({"cf_connect": message})
    with urllib.request.urlopen(f"{url}?{query}", timeout=20) as stream:
        for line in stream:
            if line.startswith(b"data: "):
                print(line[6:].decode(), end="", flush=True)


kind, url, message = sys.argv[1:]
if kind == "sse":
    sse(url, message)
else:
    asyncio.run(websocket(url, message))
