import { withoutCustomFields } from './custom-fields.ts'
import { isPub, type Publication, subscribeLive } from './live-client.ts'
import type { Answer, Program } from './program.ts'
import { seedStations, type Shape } from './stations.ts'
import { waitFor } from './wait.ts'

/** A station that plays its one playlist, with the document it shows. */
export async function startPlaying(program: Program, shape: Omit<Shape, 'stations'> = {}) {
  const [station] = await seedStations(program.sql, shape)
  if (!station) throw new Error('no station was made')
  const document = await shownWhen(program, station.id, body => body.is_online)
  return { ...station, document }
}

/** The now-playing document over HTTP, as soon as it fits. */
export function shownWhen(
  program: Program,
  stationId: number,
  fits: (document: Answer) => boolean,
  deadlineMs = 10_000
): Promise<Answer> {
  return waitFor(
    async () => {
      const { status, body } = await program.ask('GET', `/api/nowplaying/${stationId}`, { key: '' })
      return status === 200 && fits(body) && body
    },
    { deadlineMs, what: `station ${stationId} to show it` }
  )
}

/** The waiting queue of a station, without custom fields: see `withoutCustomFields`. */
export async function queueOf(program: Program, stationId: number): Promise<Answer[]> {
  const { body } = await program.ask('GET', `/api/station/${stationId}/queue`)
  return withoutCustomFields(body)
}

/** A widget that follows a station from now on. */
export async function followStation(program: Program, stationId: number) {
  const url = `${program.baseUrl.replace('http', 'ws')}/api/live/nowplaying/websocket`
  const client = await subscribeLive(url, { subs: { [`station:${stationId}`]: { recover: true } } })
  return {
    /** The next publication that fits, with its triggers; throws when none comes within 5 seconds. */
    next: async (fits: (np: Answer) => boolean): Promise<{ np: Answer; triggers: readonly string[] }> => {
      const isFit = (frame: unknown): frame is Publication => isPub(frame) && fits(frame.pub.data.np)
      return (await client.until(isFit)).pub.data
    },
    /** How many publications wait to be taken. */
    waiting: () => client.frames.filter(isPub).length
  }
}
