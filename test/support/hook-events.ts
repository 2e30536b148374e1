import * as fc from 'fast-check'

import type { StationState } from '../../src/model/station/state.ts'
import { renderEventNowPlaying } from '../../src/webhooks/format/now-playing-body.ts'
import { removeControlCharacters } from '../../src/webhooks/format/plain-text.ts'
import type { HookEvent, EventNowPlaying } from '../../src/webhooks/hook-event.ts'
import type { DeliveryContent } from '../../src/webhooks/types/delivery-content.ts'
import { getHookType } from '../../src/webhooks/types/hook-types.ts'
import { aPlay, aSong, aStation, documented } from './builders.ts'

/** The time of the event in Unix seconds: 2026-07-08T00:00:00Z. */
export const happenedAt = 1_783_468_800

/** A station that plays `song`, with a next song, one mount and six listeners. */
export function aPlayingStation(song: Parameters<typeof aSong>[0] = {}): StationState {
  const startedAtMs = happenedAt * 1000
  return aStation({
    shown: aPlay({ startedAtMs, song: aSong({ artId: '5f1c0a9e2b7d', ...song }) }),
    next: {
      cuedAtMs: startedAtMs,
      playsAtMs: startedAtMs + 215_000,
      durationMs: 182_000,
      playlist: 'Daytime',
      isRequest: false,
      song: aSong({ artist: 'The Low Signals', title: 'Night Ferry', album: '' })
    },
    listeners: { total: 6, unique: 5, hls: 0, mounts: {}, remotes: {} }
  })
}

/** The now-playing object of a station at `happenedAt`. */
export function nowPlayingOf(state: StationState): EventNowPlaying {
  return renderEventNowPlaying(state, happenedAt * 1000, documented)
}

/** A song change of `aPlayingStation`. */
export function anEvent(parts: Partial<HookEvent> = {}): HookEvent {
  const nowPlaying = nowPlayingOf(aPlayingStation())
  return {
    id: 'evt_abcdefghijklmnopqrstuvwxyz',
    triggers: ['song_changed'],
    happenedAt,
    nowPlaying,
    ...parts
  }
}

/** Returns what a web hook of a type sends for an event, a second later. */
export function sendingOf(
  type: string,
  config: Readonly<Record<string, unknown>>,
  parts: Partial<HookEvent> = {}
): DeliveryContent {
  return getHookType(type).send(anEvent(parts), config, { at: happenedAt + 1, formerSecrets: [] })
}

/** The body of the only request. */
export function bodyOf(sending: DeliveryContent) {
  if (sending.kind !== 'requests') throw new Error(`not requests but ${sending.kind}`)
  const [request, ...others] = sending.requests
  if (!request || others.length > 0) throw new Error(`${sending.requests.length} requests`)
  return JSON.parse(request.body ?? '')
}

const marks = [
  ...Array.from('*_`~|[]()<>"\'&\\#-+@!:/{}.1 \n'),
  '```',
  '](',
  '{{ station.name }}',
  'https://evil.example/a_b*c',
  '<b>',
  '</a>',
  '@everyone',
  'tg://user?id=1',
  '\u2060',
  '…',
  'é',
  '👩‍👩‍👧',
  ':joy:',
  '\r\n',
  '\t',
  '\0',
  '\u202e',
  '\u2067',
  '\u200f',
  '\ud83d'
]

/** Texts with markup and control characters, each with readable characters. */
export const hostileText = fc
  .array(fc.oneof(fc.constantFrom(...marks), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 })), {
    minLength: 1,
    maxLength: 12
  })
  .map(parts => parts.join(''))
  .filter(text => removeControlCharacters(text) !== '')
