/**
 * A whole client of the live protocol (src/live/PROTOCOL.md) that requests deltas. It needs no packages: it
 * runs in a page and on Node 22 as it is, and on Node 20 with the package `ws`.
 *
 *     node examples/delta-client.mjs ws://localhost:8080 harbour_fm
 *
 * In a page:
 *
 *     import { followStation } from './delta-client.mjs'
 *     const url = 'wss://radio.example.com/api/live/nowplaying/websocket'
 *     followStation({ url, channel: 'station:harbour_fm', onData: ({ np }) => show(np) })
 */

/** The server says something every 15 seconds at least: who hears nothing for so long is alone. */
const silenceMs = 40_000
const firstDelayMs = 1_000
const longestDelayMs = 30_000
const afterShutdownMs = 5_000

/**
 * Follows one channel until `close()` is called or the server says not to come back.
 *
 * - `onData(data, offset)` gets `{ np, triggers, current_time }` of each publication, whole.
 * - `onEnd({ code, reason })` is called when the server does not want to be asked again (3500 to 3999).
 * - `WebSocket` is the class to use, where there is no global one.
 */
export function followStation({ url, channel, onData, onEnd = () => {}, WebSocket = globalThis.WebSocket }) {
  // What survives a connection: the document, and where it stands.
  let data
  let offset = 0
  let epoch = ''

  let socket
  let attempts = 0
  let isOver = false
  let waiting
  let silence

  function connect() {
    socket = new WebSocket(url)
    const ours = socket
    const isOurs = () => ours === socket && !isOver
    socket.addEventListener('open', () => {
      const position = epoch === '' ? {} : { offset, epoch }
      const wish = { recover: true, delta: 'merge-patch', ...position }
      ours.send(JSON.stringify({ subs: { [channel]: wish } }))
    })
    socket.addEventListener('message', event => {
      if (!isOurs()) return
      receive(JSON.parse(event.data))
    })
    // A close event follows every error, and tells more.
    socket.addEventListener('error', () => {})
    socket.addEventListener('close', event => {
      if (isOurs()) lost(event.code, event.reason)
    })
    listen()
  }

  /** Without this, a connection that died silently would be believed in for ever. */
  function listen() {
    clearTimeout(silence)
    silence = setTimeout(() => {
      const dead = socket
      lost(0, 'silence')
      dead.close()
    }, silenceMs)
  }

  function receive(frame) {
    // A ping shows that the server is there, not that the station is.
    if (frame.connect || frame.pub) listen()
    if (frame.connect) connected(frame.connect.subs?.[channel] ?? {})
    else if (frame.pub) publish(frame.pub)
    else if (frame.disconnect) lost(frame.disconnect.code, frame.disconnect.reason)
    // What is left is `{}`, a ping: it is not answered.
  }

  function connected(entry) {
    attempts = 0
    // Offsets compare within an epoch only. An entry without one is of a station that is not there (yet).
    epoch = entry.epoch ?? ''
    // No publication: what we have is the newest.
    for (const publication of entry.publications ?? []) publish(publication)
  }

  function publish(publication) {
    data = publication.data ?? mergePatch(data, publication.delta)
    offset = publication.offset
    onData(data, offset)
  }

  function lost(code, reason) {
    clearTimeout(silence)
    const last = socket
    socket = undefined
    last.close()
    if (code >= 3500 && code < 4000) {
      isOver = true
      onEnd({ code, reason })
      return
    }
    // Full jitter: clients that lost the same server must not come back together.
    const mostMs =
      code === 3001 || code === 1001
        ? afterShutdownMs
        : Math.min(longestDelayMs, firstDelayMs * 2 ** attempts)
    attempts++
    waiting = setTimeout(connect, Math.random() * mostMs)
  }

  connect()
  return {
    close() {
      isOver = true
      clearTimeout(waiting)
      clearTimeout(silence)
      socket?.close()
    }
  }
}

/** JSON Merge Patch, RFC 7396. Gives a new value; what the patch does not name is shared with the old one. */
export function mergePatch(target, patch) {
  if (!isObject(patch)) return patch
  const result = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = mergePatch(result[name], value)
  }
  return result
}

const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)

async function main([host = 'ws://localhost:8080', station = '1']) {
  const WebSocket = globalThis.WebSocket ?? (await import('ws')).WebSocket
  let before = ''
  followStation({
    url: new URL('/api/live/nowplaying/websocket', host).href,
    channel: `station:${station}`,
    WebSocket,
    onData: ({ np }) => {
      const line = `${np.now_playing.song.text} (${np.listeners.total} listeners)`
      if (line !== before) process.stdout.write(`${line}\n`)
      before = line
    },
    onEnd: ({ code, reason }) => {
      process.stderr.write(`the server does not want us back: ${code} ${reason}\n`)
      process.exitCode = 1
    }
  })
}

const { process } = globalThis
if (process !== undefined && process.argv[1] === import.meta.filename) await main(process.argv.slice(2))
