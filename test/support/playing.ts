import { withoutCustomFields } from './custom-fields.ts'
import { isPub, type Publication, subscribeLive } from './live-client.ts'
import type { JsonBody, Program } from './program.ts'
import { seedStations, type Shape } from './stations.ts'
import { waitFor } from './wait.ts'

/** A station that plays its only playlist, with its document. */
export async function startPlaying(program: Program, shape: Omit<Shape, 'stations'> = {}) {
  const [station] = await seedStations(program.sql, shape)
  if (!station) throw new Error('no station was made')
  await startSeeded(program, station.id)
  const document = await shownWhen(program, station.id, body => body.is_online)
  return { ...station, document }
}

/** Lets a station that was written by SQL play and be shown at once. The next sweep would, within a second. */
export async function startSeeded({ ask }: Program, stationId: number): Promise<void> {
  const { status } = await ask('PUT', `/api/admin/station/${stationId}`, { body: {} })
  if (status !== 200) throw new Error(`station ${stationId} was not started: ${status}`)
}

/** Requests the now-playing document until it matches. */
export function shownWhen(
  program: Program,
  stationId: number,
  fits: (document: JsonBody) => boolean,
  deadlineMs = 10_000
): Promise<JsonBody> {
  return waitFor(
    async () => {
      const { status, body } = await program.ask('GET', `/api/nowplaying/${stationId}`, { key: '' })
      return status === 200 && fits(body) && body
    },
    { deadlineMs, what: `station ${stationId} to show it` }
  )
}

/** The queue of a station, without custom fields: see `withoutCustomFields`. */
export async function queueOf(program: Program, stationId: number): Promise<JsonBody[]> {
  const { body } = await program.ask('GET', `/api/station/${stationId}/queue`)
  return withoutCustomFields(body)
}

/** A client that follows a station by its id or name. */
export async function followStation(program: Program, station: number | string) {
  const url = `${program.baseUrl.replace('http', 'ws')}/api/live/nowplaying/websocket`
  const client = await subscribeLive(url, { subs: { [`station:${station}`]: { recover: true } } })
  return {
    /** Returns the next publication that matches, with its triggers. Throws after 5 seconds. */
    next: async (fits: (np: JsonBody) => boolean): Promise<{ np: JsonBody; triggers: readonly string[] }> => {
      const isFit = (frame: unknown): frame is Publication => isPub(frame) && fits(frame.pub.data.np)
      return (await client.until(isFit)).pub.data
    },
    /** The number of publications that were not taken yet. */
    waiting: () => client.frames.filter(isPub).length
  }
}
