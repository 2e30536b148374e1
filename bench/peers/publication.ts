import { WebSocket } from 'ws'

import type { OnAir } from '../on-air.ts'

/** The text before the count that tells one publication of a bench from the next. */
export const marker = '},"listeners":{"total":'

const counts = /\},"listeners":\{"total":\d+,"unique":\d+,"current":\d+/
const waitMs = 5_000

/** What the program publishes, as text with another count of listeners each time. */
export interface Publication {
  readonly bytes: number
  /** The whole frame. */
  readonly frame: (total: number) => string
  /** The part below `data`, for servers that write the rest themselves. */
  readonly data: (total: number) => string
}

/**
 * Takes a publication of a station from the program itself. `total` should have as many digits as later ones.
 */
export async function readPublication(
  program: OnAir,
  stationId: number,
  total: number
): Promise<Publication> {
  const text = await nextFrame(program, stationId, total)
  const [head = '', tail = ''] = text.split(counts)
  const frame = (count: number) => `${head}${marker}${count},"unique":${count},"current":${count}${tail}`
  if (frame(total) !== text) throw new Error('the publication holds no count of listeners')
  const from = text.indexOf('"data":') + '"data":'.length
  const to = text.lastIndexOf(',"offset":')
  const fromEnd = text.length - to
  return {
    bytes: Buffer.byteLength(text),
    frame,
    data: count => frame(count).slice(from, -fromEnd)
  }
}

async function nextFrame(program: OnAir, stationId: number, total: number): Promise<string> {
  const url = `${program.baseUrl.replace(/^http/, 'ws')}/api/live/nowplaying/websocket`
  const socket = new WebSocket(url, { perMessageDeflate: false })
  try {
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no publication came')), waitMs)
      socket.on('error', reject)
      socket.on('open', () =>
        socket.send(JSON.stringify({ subs: { [`station:${stationId}`]: { recover: true } } }))
      )
      socket.on('message', (data: Buffer) => {
        const text = data.toString()
        if (text.startsWith('{"connect"')) program.reportListeners(stationId, total).catch(reject)
        if (!text.includes(`${marker}${total},`)) return
        clearTimeout(timer)
        resolve(text)
      })
    })
  } finally {
    socket.terminate()
  }
}
