import { renderAnnotatedUri } from '../../broadcast/liquidsoap.ts'
import type { Sql } from '../../db/sql.ts'
import { type Command, notePlayout, notePlayoutLeft, readCommands } from '../../playout/playouts/commands.ts'
import { readSong } from '../../playout/playouts/send-next-song.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { TooManyRequests } from '../../runtime/errors.ts'
import { json, type Reply } from '../core/route.ts'
import { exactly } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { isNewsTo } from '../now-playing/long-polls.ts'
import { playoutRoutesOf } from './playout-caller.ts'

const waitMs = 10_000

const text = { type: 'string' }

/**
 * What a playout is told, and how it shows that it is there: a connection that breaks says that it has gone.
 */
export const liquidsoapCommandRoutes = playoutRoutesOf({
  name: 'commands',
  summary: 'What a playout is to do, as soon as there is something; empty after ten seconds',
  body: { seen: 'What the last answer said; empty after a start.' },
  answer: exactly({
    seen: text,
    commands: {
      type: 'array',
      items: exactly({
        type: { type: 'string', enum: ['skip', 'interrupt', 'metadata'] },
        uri: { type: 'string', description: 'What cuts in.' },
        sq_id: text,
        artist: text,
        title: text,
        delay: { type: 'string', description: 'Seconds to wait before.' }
      })
    }
  }),
  errors: [429],
  async handle({ station, body, request }, services) {
    const state = services.live.get(String(station.id))
    const mark = { since: state?.offset ?? 0, epoch: state?.epoch ?? '' }
    await notePlayout(services.sql, station.id, engineTimeMs(), true)
    const seen = /^\d{1,15}$/.test(body['seen'] ?? '') ? Number(body['seen']) : null
    const first = await look(services.sql, station.id, seen)
    if (seen === null || first.commands.length > 0 || !state) return json(first)
    if (!request.isOpen()) await notePlayoutLeft(services.sql, station.id, engineTimeMs())
    return waitFor(services, { stationId: station.id, address: request.address, seen, ...mark })
  }
})

interface Wait {
  readonly stationId: number
  readonly address: string
  readonly seen: number
  readonly since: number
  readonly epoch: string
}

/** Looks again whenever the station changes, until there is something or time is up. */
function waitFor(services: ApiServices, { seen, ...asked }: Wait): Reply {
  const { live, waiters, sql } = services
  const { stationId } = asked
  const endsAtMs = performance.now() + waitMs
  const nothing = () => json({ seen: String(seen), commands: [] })
  return {
    later: answer => {
      let forget: (() => void) | null = null
      let isOver = false
      const end = (work: () => Reply | Promise<Reply>) => {
        isOver = true
        answer(work)
      }
      const lookAgain = async () => {
        const found = await look(sql, stationId, seen)
        if (isOver) return
        if (found.commands.length > 0) end(() => json(found))
        else wait()
      }
      const fail = (error: unknown) =>
        end(() => {
          throw error
        })
      const wait = () => {
        const state = live.get(String(stationId))
        const remainingMs = endsAtMs - performance.now()
        if (!state || remainingMs <= 0) return end(nothing)
        const since = state.offset
        const { epoch } = state
        const waiting = waiters.wait({ ...asked, since, epoch, waitMs: remainingMs }, why => {
          if (why === 'news') void lookAgain().catch(fail)
          else end(nothing)
        })
        if (waiting === 'released') return end(nothing)
        if (waiting === 'full') return fail(new TooManyRequests(1))
        forget = waiting
      }
      const now = live.get(String(stationId))
      if (now && isNewsTo(asked, now)) void lookAgain().catch(fail)
      else wait()
      return () => {
        isOver = true
        forget?.()
        void notePlayoutLeft(sql, stationId, engineTimeMs()).catch(error =>
          services.log.warn({ err: error, station: stationId }, 'a playout has gone, which was not noted')
        )
      }
    }
  }
}

async function look(sql: Sql, stationId: number, last: number | null) {
  const { seen, commands } = await readCommands(sql, stationId, last)
  const rendered = await Promise.all(commands.map(async command => render(sql, command)))
  return { seen: String(seen), commands: rendered.flatMap(command => command ?? []) }
}

const empty = { uri: '', sq_id: '', artist: '', title: '', delay: '0' }

async function render(sql: Sql, command: Command) {
  if (command.type === 'skip') return { type: 'skip', ...empty }
  if (command.type === 'metadata') {
    const { artist, title } = command
    return { type: 'metadata', ...empty, artist, title }
  }
  const song = await readSong(sql, command.queueId)
  if (!song) return null
  const delay = (Math.max(0, command.atMs - engineTimeMs()) / 1000).toFixed(3)
  return { type: 'interrupt', ...empty, uri: renderAnnotatedUri(song), sq_id: String(song.queueId), delay }
}
