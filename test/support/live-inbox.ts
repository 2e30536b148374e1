import { asFrame, type FrameOf, type Kind, parseFrame } from './live-frames.ts'

/** The end of a connection, as far as the transport reports it. */
interface End {
  /** The HTTP status if the connection was refused; 0 without a response. */
  readonly status: number
  /** The code and reason of a close frame. */
  readonly code?: number
  readonly reason?: string
}

/** The frames that one client received. Each is validated on receipt. */
export interface Inbox {
  /** The kinds of all received frames, in order. */
  readonly kinds: readonly Kind[]
  /** Received frames that were not taken yet. */
  readonly waiting: readonly unknown[]
  readonly accept: (line: string) => void
  readonly finish: (end: End) => void
  readonly ended: Promise<End>
  /**
   * Takes frames until one has this kind and matches. Throws after 5 seconds, at the end of the connection,
   * or on an invalid frame.
   */
  readonly until: <K extends Kind>(
    kind: K,
    fits?: (frame: FrameOf<K>) => boolean,
    deadlineMs?: number
  ) => Promise<FrameOf<K>>
  /** Throws the errors of all frames so far. */
  readonly check: () => void
}

export function openInbox(): Inbox {
  const kinds: Kind[] = []
  const waiting: { kind: Kind; frame: unknown }[] = []
  const faults: string[] = []
  let wake: (() => void) | null = null
  let settle: (end: End) => void
  let end: End | null = null
  const ended = new Promise<End>(resolve => {
    settle = resolve
  })

  function accept(line: string): void {
    try {
      const parsed = parseFrame(line)
      if (parsed.kind === 'connect' && kinds.length > 0) faults.push('a connect frame that is not the first')
      if (parsed.kind !== 'connect' && kinds.length === 0 && parsed.kind !== 'disconnect')
        faults.push(`a first frame that is a ${parsed.kind}`)
      if (kinds.includes('disconnect')) faults.push(`a ${parsed.kind} after the disconnect`)
      kinds.push(parsed.kind)
      waiting.push(parsed)
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error))
    }
    wake?.()
  }

  function check(): void {
    if (faults.length > 0) throw new Error(faults.join('\n'))
  }

  async function until<K extends Kind>(
    kind: K,
    fits: (frame: FrameOf<K>) => boolean = () => true,
    deadlineMs = 5_000
  ): Promise<FrameOf<K>> {
    const deadline = AbortSignal.timeout(deadlineMs)
    const passed: Kind[] = []
    for (;;) {
      check()
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        passed.push(next.kind)
        if (next.kind !== kind) continue
        const frame = asFrame(kind, next.frame)
        if (fits(frame)) return frame
      }
      if (end !== null || deadline.aborted) {
        const why = end === null ? `within ${deadlineMs} ms` : `before ${JSON.stringify(end)}`
        throw new Error(`no such ${kind} ${why}; there were: ${passed.join()}`)
      }
      await new Promise<void>(resolve => {
        wake = resolve
        deadline.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  }

  return {
    kinds,
    get waiting() {
      return waiting.map(({ frame }) => frame)
    },
    accept,
    check,
    until,
    ended,
    finish: how => {
      if (end !== null) return
      end = how
      settle(how)
      wake?.()
    }
  }
}
