import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { WebSocket } from 'ws'

import { type RandomSource, createSeededRandom } from '../../src/model/autodj/random.ts'
import { readFrame } from '../support/live-frames.ts'
import { applyMergePatch } from '../support/merge-patch.ts'
import { contentOf } from './document.ts'
import type { Journal } from './journal.ts'
import type { PositionJudge } from './judge-positions.ts'
import { between, pick } from './plan.ts'

/** The transports of clients. */
const transports = ['websocket', 'delta', 'sse', 'http_stream', 'poll', 'long poll'] as const

type Transport = (typeof transports)[number]

/** A client with all its consecutive connections. */
export interface Follower {
  readonly name: string
  readonly stationId: number
  readonly transport: Transport
  /** Whether a connection is open. Always true for polling clients. */
  readonly isConnected: () => boolean
}

export interface FollowerOptions {
  readonly seed: number
  readonly stationIds: readonly number[]
  /** Servers that respond, or will respond again. */
  readonly baseUrls: readonly string[]
  readonly judge: PositionJudge
  readonly journal: Journal
  readonly signal: AbortSignal
  /** Called with each document that a client receives. */
  readonly onDocument: (stationId: number, document: unknown) => void
}

const livePath = '/api/live/nowplaying'
/** The duration of a connection until its client closes it, in milliseconds. */
const shortestMs = 5_000
const longestMs = 40_000
const longestPauseMs = 1_200
const pollEveryMs = 900
/** A client closes its connection if nothing arrives for longer than the heartbeat interval. */
const silenceMs = 20_000
const connectMs = 10_000
const waitSeconds = 10

/** Starts one client of each transport for each station. They stop when the signal is aborted. */
export function openFollowers(options: FollowerOptions): Follower[] {
  return options.stationIds.flatMap((stationId, station) =>
    transports.map((transport, index) => {
      const random = createSeededRandom(options.seed, 1_000 + station * transports.length + index)
      return follow({ ...options, stationId, transport, random })
    })
  )
}

interface Following extends FollowerOptions {
  readonly stationId: number
  readonly transport: Transport
  readonly random: RandomSource
}

function follow(following: Following): Follower {
  const { transport, stationId, signal, random, journal } = following
  const name = `${transport} ${stationId}`
  let isConnected = transport === 'poll' || transport === 'long poll'
  const live = async () => {
    while (!signal.aborted) {
      const url = pick(random, following.baseUrls)
      const lifeMs = between(random, shortestMs, longestMs)
      const pauseMs = between(random, 0, longestPauseMs)
      if (transport === 'poll' || transport === 'long poll') {
        await poll(following, name, url)
        await sleep(transport === 'poll' ? pollEveryMs : 30)
        continue
      }
      const life = AbortSignal.any([signal, AbortSignal.timeout(lifeMs)])
      await connect(following, name, url, life, () => (isConnected = true))
      isConnected = false
      journal.count('connections')
      await sleep(pauseMs)
    }
  }
  void live().catch((error: unknown) =>
    journal.violate([{ rule: 'the checker works', stationId, detail: `${name}: ${String(error)}` }])
  )
  return { name, stationId, transport, isConnected: () => isConnected }
}

/** One connection, from its handshake to its end. */
async function connect(
  following: Following,
  name: string,
  url: string,
  life: AbortSignal,
  onFrame: () => void
): Promise<void> {
  const { transport, stationId, judge, random } = following
  const known = judge.positionOf(name, stationId)
  const isWithPosition = random() < 0.8
  if (!isWithPosition) judge.forget(name, stationId)
  const options = {
    recover: true,
    ...(known === null || !isWithPosition ? {} : known),
    ...(transport === 'delta' ? { delta: 'merge-patch' } : {})
  }
  const message = JSON.stringify({ subs: { [`station:${stationId}`]: options } })
  const silence = new AbortController()
  const ended = AbortSignal.any([life, silence.signal])
  let timer = setTimeout(() => silence.abort(), connectMs)
  const receive = readFrames(following, name)
  const accept = (text: string) => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(), silenceMs)
    onFrame()
    try {
      receive(text)
    } catch (error) {
      const detail = `${name}: ${String(error)} in ${text.slice(0, 300)}`
      following.journal.violate([{ rule: 'a frame can be read', stationId, detail }])
    }
  }
  try {
    if (transport === 'websocket' || transport === 'delta') await openSocket(url, message, ended, accept)
    else await openStream(url, transport === 'sse' ? 'sse' : 'http_stream', message, ended, accept)
  } finally {
    clearTimeout(timer)
  }
}

async function openSocket(
  url: string,
  message: string,
  ended: AbortSignal,
  accept: (text: string) => void
): Promise<void> {
  return new Promise(resolve => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}${livePath}/websocket`, {
      perMessageDeflate: false
    })
    const cut = () => socket.terminate()
    ended.addEventListener('abort', cut, { once: true })
    socket.on('open', () => socket.send(message))
    socket.on('message', data => Buffer.isBuffer(data) && accept(data.toString()))
    socket.on('error', () => {})
    socket.on('close', () => {
      ended.removeEventListener('abort', cut)
      resolve()
    })
  })
}

async function openStream(
  url: string,
  path: 'sse' | 'http_stream',
  message: string,
  ended: AbortSignal,
  accept: (text: string) => void
): Promise<void> {
  const isSse = path === 'sse'
  const query = isSse ? `?cf_connect=${encodeURIComponent(message)}` : ''
  return new Promise(resolve => {
    const clientRequest = request(`${url}${livePath}/${path}${query}`, {
      method: isSse ? 'GET' : 'POST',
      agent: false,
      signal: ended
    })
    clientRequest.on('error', () => resolve())
    clientRequest.on('response', response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
          const line = text.slice(0, end).trim()
          text = text.slice(end + 1)
          if (!isSse && line !== '') accept(line)
          if (isSse && line.startsWith('data: ')) accept(line.slice(6))
        }
      })
      response.on('error', () => {})
      response.on('close', () => resolve())
    })
    clientRequest.end(isSse ? undefined : message)
  })
}

/** Returns a function that processes the frames of one connection. */
function readFrames(following: Following, name: string): (text: string) => void {
  const { stationId, journal, judge, onDocument } = following
  const channel = `station:${stationId}`
  let epoch = ''
  let data: unknown = null
  const see = (offset: number, content: string | null) => {
    journal.note(
      stationId,
      `${name}: ${epoch} ${offset}${content === null ? '' : ` ${summaryOf(Object(data).np)}`}`
    )
    journal.violate(judge.see({ client: name, stationId, epoch, offset, content }))
  }
  const seeData = (offset: number) => {
    const { np } = Object(data)
    journal.count('documents pushed')
    see(offset, contentOf(np))
    onDocument(stationId, np)
  }
  return text => {
    journal.count('frames')
    const { kind, frame } = readFrame(text)
    if (kind === 'connect') {
      const entry = Object(frame.connect.subs?.[channel])
      if (entry.epoch === undefined) {
        const detail = `${name}: the connect frame has no state of station ${stationId}`
        return journal.violate([{ rule: 'an existing station is found', stationId, detail }])
      }
      epoch = String(entry.epoch)
      const [publication] = entry.publications ?? []
      if (publication) {
        data = publication.data
        seeData(publication.offset)
      } else see(entry.offset, null)
    } else if (kind === 'pub') {
      data = frame.pub.data
      seeData(frame.pub.offset)
    } else if (kind === 'delta') {
      data = applyMergePatch(Object(data), Object(frame.pub.delta))
      seeData(frame.pub.offset)
    } else if (kind === 'disconnect') {
      journal.count(`disconnect ${frame.disconnect.code}`)
      journal.note(stationId, `${name}: disconnect ${frame.disconnect.code}`)
    }
  }
}

async function poll(following: Following, name: string, url: string): Promise<void> {
  const { transport, stationId, journal, judge, onDocument, signal } = following
  const known = judge.positionOf(name, stationId)
  const query =
    transport === 'long poll'
      ? `?wait=${waitSeconds}&since=${known?.offset ?? 0}${known === null ? '' : `&epoch=${encodeURIComponent(known.epoch)}`}`
      : ''
  const ended = AbortSignal.any([signal, AbortSignal.timeout(waitSeconds * 1_000 + 5_000)])
  let response: { status: number; epoch: string; offset: number; text: string }
  try {
    response = await get(`${url}/api/nowplaying/${stationId}${query}`, ended)
  } catch {
    // The server is down; the next request goes to a random server.
    await sleep(300)
    return
  }
  const { status, epoch, offset, text } = response
  journal.count('polls')
  if (status !== 200 && status !== 304) {
    journal.note(stationId, `${name}: HTTP ${status} ${text.slice(0, 200)}`)
    const rule = 'an existing station is found'
    return journal.violate([{ rule, stationId, detail: `${name}: HTTP ${status} ${text.slice(0, 200)}` }])
  }
  if (status === 304) {
    // The position of a 304 is that of the server, which may be behind the client: the client keeps its own.
    return
  }
  journal.count('documents polled')
  const document: unknown = JSON.parse(text)
  journal.note(stationId, `${name}: ${epoch} ${offset} ${summaryOf(document)}`)
  const found = judge.see({ client: name, stationId, epoch, offset, content: contentOf(document) })
  // A plain poll does not send its position, and servers may differ for a moment.
  journal.violate(transport === 'poll' ? found.filter(({ rule }) => rule !== 'offsets never go back') : found)
  onDocument(stationId, document)
}

async function get(url: string, signal: AbortSignal) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { agent: false, signal }).on('response', resolve).on('error', reject).end()
  })
  let text = ''
  response.setEncoding('utf8')
  for await (const chunk of response) text += String(chunk)
  const { 'x-cuewire-epoch': epoch = '', 'x-cuewire-offset': offset = '' } = response.headers
  return { status: response.statusCode ?? 0, epoch: String(epoch), offset: Number(offset), text }
}

/** A summary of a document for the list of events. */
function summaryOf(document: unknown): string {
  const { now_playing: playing, listeners, station } = Object(document)
  return `play ${playing?.sh_id} +${playing?.elapsed} s, ${listeners?.total} listeners, "${station?.description}"`
}
