import { setTimeout as pause } from 'node:timers/promises'

import type { JsonBody, Program } from './program.ts'
import type { Radio } from './radio.ts'

/** A value, with the time at which it was first seen. */
export interface Seen {
  readonly value: string
  readonly atMs: number
}

/** The data of Cuewire and Icecast about a station over time, as seen by polling. */
export interface RadioWatch extends AsyncDisposable {
  /** The titles that Cuewire shows, in order. */
  readonly shown: readonly Seen[]
  /** The titles that Icecast sends, in order. */
  readonly streamed: readonly Seen[]
  /** The names of live streamers in order; empty if none is live. */
  readonly live: readonly Seen[]
  /** The newest response of Cuewire. */
  readonly newest: () => JsonBody
}

const everyMs = 15

export function watchRadio(program: Pick<Program, 'ask'>, radio: Radio): RadioWatch {
  const shown: Seen[] = []
  const streamed: Seen[] = []
  const live: Seen[] = []
  const stopping = new AbortController()
  let newest: JsonBody = null

  async function repeat(look: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      // Either server may be down.
      await look().catch(() => {})
      await pause(everyMs)
    }
  }

  const ours = repeat(async () => {
    const { body } = await program.ask('GET', `/api/nowplaying/${radio.stationId}`, { key: '' })
    newest = body
    note(shown, body.is_online ? `${body.now_playing.sh_id} ${body.now_playing.song.text}` : 'offline')
    note(live, body.live.streamer_name)
  })
  const theirs = repeat(async () => {
    const [mount] = await radio.mounts()
    note(streamed, mount ? [mount.artist, mount.title].filter(part => part !== '').join(' - ') : '')
  })
  return {
    shown,
    streamed,
    live,
    newest: () => newest,
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      await Promise.all([ours, theirs])
    }
  }
}

function note(seen: Seen[], value: string): void {
  if (seen.at(-1)?.value !== value) seen.push({ value, atMs: Date.now() })
}

/** The value at a time; empty before the first one. */
export function seenAt(seen: readonly Seen[], atMs: number): string {
  return seen.findLast(each => each.atMs <= atMs)?.value ?? ''
}
