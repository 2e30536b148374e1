"""Packages of Python as clients: Debian's websockets, urllib, requests, and sseclient-py. Prints each frame as a line.

    live-client.py websocket URL MESSAGE
    live-client.py sse URL MESSAGE
    live-client.py requests URL MESSAGE          lines of http_stream
    live-client.py requests-sse URL MESSAGE      lines of SSE
    live-client.py sseclient URL MESSAGE

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


def lines_of_requests(url, message):
    import requests

    with requests.post(url, data=message, stream=True, timeout=20) as response:
        for line in response.iter_lines():
            text = line.decode().removeprefix("data: ")
            if text.startswith("{"):
                print(text, flush=True)


def events_of_sseclient(url, message):
    import requests
    import sseclient

    with requests.post(url, data=message, stream=True, timeout=20) as response:
        for event in sseclient.SSEClient(response).events():
            print(event.data, flush=True)


kind, url, message = sys.argv[1:]
if kind == "sse":
    sse(url, message)
elif kind in ("requests", "requests-sse"):
    lines_of_requests(url, message)
elif kind == "sseclient":
    events_of_sseclient(url, message)
else:
    asyncio.run(websocket(url, message))
