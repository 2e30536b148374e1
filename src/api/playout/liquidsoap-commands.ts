import {
  announcedCommands,
  type PlayoutCommand,
  recordCommandPoll,
  recordPlayoutDisconnect,
  readPlayoutCommands
} from '../../engine/playouts/commands.ts'
import { readQueuedSong, withdrawSong } from '../../engine/playouts/send-next-song.ts'
import type { Reply } from '../../http/route.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { TooManyRequests } from '../../platform/runtime/errors.ts'
import { renderAnnotatedUri } from '../../radio/liquidsoap.ts'
import { jsonReply } from '../core/route.ts'
import { exactObject, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { openSongUrlGuard } from '../core/url-checks.ts'
import { endsLongPoll, type LongPollRequest } from '../now-playing/long-polls.ts'
import { definePlayoutRoutes } from './playout-caller.ts'

const timeoutMs = 10_000

/** A long poll for commands. A connection that closes early means that the playout stopped. */
export const liquidsoapCommandRoutes = definePlayoutRoutes({
  name: 'commands',
  summary: 'Wait for commands to a playout; empty after ten seconds',
  body: {
    seen: 'The value of seen in the last response; empty after a start.',
    takes: `The commands beyond skip, interrupt and metadata that the script executes, comma-separated: ${announcedCommands.join(', ')}.`
  },
  response: exactObject({
    seen: string,
    commands: {
      type: 'array',
      items: exactObject({
        type: { type: 'string', enum: ['skip', 'interrupt', 'metadata', ...announcedCommands] },
        uri: { type: 'string', description: 'The song that interrupts.' },
        sq_id: string,
        artist: string,
        title: string,
        delay: { type: 'string', description: 'Seconds to wait before the interrupt.' }
      })
    }
  }),
  errors: [429],
  async handle({ station, body, request }, services) {
    const state = services.live.findState(station.id)
    const { epoch = '', offset: since = 0 } = state ?? {}
    const announced = new Set((body['takes'] ?? '').split(',').map(name => name.trim()))
    const takes = announcedCommands.filter(name => announced.has(name))
    await recordCommandPoll(services.sql, station.id, engineTimeMs(), takes)
    const seen = /^\d{1,15}$/.test(body['seen'] ?? '') ? Number(body['seen']) : null
    const found = await pollCommands(services, station.id, seen)
    if (seen === null || found.commands.length > 0 || !state) return jsonReply(found)
    if (!request.isOpen()) await recordPlayoutDisconnect(services.sql, station.id, engineTimeMs())
    return waitForCommands(services, seen, { stationId: station.id, address: request.address, since, epoch })
  }
})

/** Polls again whenever the station changes, until there are commands or the timeout expires. */
function waitForCommands(services: ApiServices, seen: number, poll: Omit<LongPollRequest, 'waitMs'>): Reply {
  const { live, longPolls, sql, log } = services
  const { stationId } = poll
  const endsAtMs = performance.now() + timeoutMs
  const renderEmpty = () => jsonReply({ seen: String(seen), commands: [] })
  return {
    later: respond => {
      let forget: (() => void) | null = null
      let isOver = false
      const finish = (work: () => Reply) => {
        isOver = true
        respond(work)
      }
      const fail = (error: unknown) =>
        finish(() => {
          throw error
        })
      const repoll = async () => {
        const found = await pollCommands(services, stationId, seen)
        if (isOver) return
        if (found.commands.length > 0) finish(() => jsonReply(found))
        else wait()
      }
      const wait = () => {
        const state = live.findState(stationId)
        const waitMs = endsAtMs - performance.now()
        if (!state || waitMs <= 0) return finish(renderEmpty)
        const request = { ...poll, since: state.offset, epoch: state.epoch, waitMs }
        const waiting = longPolls.wait(request, reason => {
          if (reason === 'changed') void repoll().catch(fail)
          else finish(renderEmpty)
        })
        if (waiting === 'released') return finish(renderEmpty)
        if (waiting === 'full') return fail(new TooManyRequests(1))
        forget = waiting
      }
      const current = live.findState(stationId)
      if (current && endsLongPoll(poll, current)) void repoll().catch(fail)
      else wait()
      return () => {
        isOver = true
        forget?.()
        void recordPlayoutDisconnect(sql, stationId, engineTimeMs()).catch(error =>
          log.warn({ err: error, station: stationId }, 'disconnect of a playout not recorded')
        )
      }
    }
  }
}

async function pollCommands(services: ApiServices, stationId: number, last: number | null) {
  const { seen, commands } = await readPlayoutCommands(services.sql, stationId, last)
  const rendered = await Promise.all(
    commands.map(async command => renderCommand(services, stationId, command))
  )
  return { seen: String(seen), commands: rendered.flatMap(command => command ?? []) }
}

const noArguments = { uri: '', sq_id: '', artist: '', title: '', delay: '0' }

/** Returns null if the song of an interrupt is no longer in the queue, or a playout must not get it. */
async function renderCommand(services: ApiServices, stationId: number, command: PlayoutCommand) {
  if (command.type !== 'interrupt') return { ...noArguments, ...command }
  const song = await readQueuedSong(services.sql, command.queueId)
  if (!song) return null
  const problem = await openSongUrlGuard(services)(song.path)
  if (problem) {
    await withdrawSong(services, stationId, song, problem)
    return null
  }
  const delay = (Math.max(0, command.atMs - engineTimeMs()) / 1000).toFixed(3)
  return {
    ...noArguments,
    type: 'interrupt',
    uri: renderAnnotatedUri(song),
    sq_id: String(song.queueId),
    delay
  }
}
