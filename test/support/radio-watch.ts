import { setTimeout as pause } from 'node:timers/promises'

import type { Answer, Program } from './program.ts'
import type { Radio } from './radio.ts'

/** A value, and from when on it was seen. */
export interface Seen {
  readonly value: string
  readonly atMs: number
}

/** What Cuewire and Icecast say of a station at every moment, as far as asking again and again can tell. */
export interface RadioWatch extends AsyncDisposable {
  /** The titles that Cuewire shows, one after the other. */
  readonly shown: readonly Seen[]
  /** Those that Icecast tells its listeners. */
  readonly streamed: readonly Seen[]
  /** The name of who is live, empty for nobody. */
  readonly live: readonly Seen[]
  /** The newest answer of Cuewire. */
  readonly newest: () => Answer
}

const everyMs = 15

export function watchRadio(program: Pick<Program, 'ask'>, radio: Radio): RadioWatch {
  const shown: Seen[] = []
  const streamed: Seen[] = []
  const live: Seen[] = []
  const stopping = new AbortController()
  let newest: Answer = null

  async function repeat(look: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      // Either may be away: then there is nothing to see.
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

/** What was seen at a time; empty before anything was. */
export function seenAt(seen: readonly Seen[], atMs: number): string {
  return seen.findLast(each => each.atMs <= atMs)?.value ?? ''
}
