import { WebSocket } from 'ws'

import type { ProgramOnAir } from '../on-air.ts'

/** The text before the listener count, which identifies a publication. */
export const marker = '},"listeners":{"total":'

const listenerCounts = /\},"listeners":\{"total":\d+,"unique":\d+,"current":\d+/
const waitMs = 5_000

/** A publication of Cuewire, rendered with any listener count. */
export interface Publication {
  readonly bytes: number
  /** Renders the whole frame. */
  readonly frame: (total: number) => string
  /** Renders the value of `data`, for servers that add the rest themselves. */
  readonly data: (total: number) => string
}

/**
 * Receives a publication of a station from the program, as a template. `total` should have as many digits as
 * later listener counts.
 */
export async function readPublication(
  program: ProgramOnAir,
  stationId: number,
  total: number
): Promise<Publication> {
  const text = await receivePublication(program, stationId, total)
  const [head = '', tail = ''] = text.split(listenerCounts)
  const frame = (count: number) => `${head}${marker}${count},"unique":${count},"current":${count}${tail}`
  if (frame(total) !== text) throw new Error(`the publication has no listener count: ${text.slice(0, 500)}`)
  const from = text.indexOf('"data":') + '"data":'.length
  const to = text.lastIndexOf(',"offset":')
  const fromEnd = text.length - to
  return {
    bytes: Buffer.byteLength(text),
    frame,
    data: count => frame(count).slice(from, -fromEnd)
  }
}

async function receivePublication(program: ProgramOnAir, stationId: number, total: number): Promise<string> {
  const url = `${program.baseUrl.replace(/^http/, 'ws')}/api/live/nowplaying/websocket`
  const socket = new WebSocket(url, { perMessageDeflate: false })
  try {
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no publication was received within ${waitMs} ms`)),
        waitMs
      )
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
