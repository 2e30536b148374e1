import type { Stream } from './streams.ts'

/** `missing`: the station has no streaming server. `forbidden`: the Content-Security-Policy of the page blocks the stream. */
export type SoundState = 'silent' | 'starting' | 'playing' | 'failed' | 'missing' | 'forbidden'

/** The part of an `Audio` element that is used. */
export interface AudioOutput {
  src: string
  volume: number
  readonly currentTime: number
  /** What was received; the last range ends at the live edge. */
  readonly buffered: { readonly length: number; end(index: number): number }
  play(): Promise<void>
  pause(): void
  load(): void
  removeAttribute(name: 'src'): void
  canPlayType(type: string): string
  addEventListener(type: 'playing' | 'waiting' | 'ended' | 'error', listener: () => void): void
}

/** An HLS stream that plays. */
export interface HlsAttachment {
  /** How many seconds the sound is behind the live edge; null if unknown. */
  delay(): number | null
  close(): void
}

/** Connects the output with an HLS stream. `onFailure` is called when the stream fails for good. */
export type AttachHls = (url: string, onFailure: () => void) => Promise<HlsAttachment>

/** Returns whether no streaming server has the stream at an address, so that retries are in vain. */
export type IsMissing = (url: string) => Promise<boolean>

/** Retries of a stream that fails, each after twice the backoff. */
const maxRetries = 3
const firstBackoffMs = 1_000
/** A stream that is silent for this time has failed. */
const timeoutMs = 15_000
/** A stream that plays for this time gets its retries back. */
const stableAfterMs = 10_000
/** Data arrives in pieces, so the largest of the last samples, over about five seconds, is the delay. */
const delaySamples = 20

export const isActive = (sound: SoundState) => sound === 'playing' || sound === 'starting'

export type AudioPlayer = ReturnType<typeof openAudioPlayer>

/**
 * Plays one stream at a time. `onChange` is called when `sound` or `volume` changes. `attachHls` connects the output with
 * an HLS stream; `isMissing` is asked about another stream that fails.
 */
export function openAudioPlayer(
  output: AudioOutput,
  onChange: () => void,
  attachHls: AttachHls,
  isMissing: IsMissing
) {
  let sound: SoundState = 'silent'
  let stream: Pick<Stream, 'url' | 'isHls'> | null = null
  let retries = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Counts the starts, so that what belongs to an earlier one is ignored. */
  let starts = 0
  let hls: HlsAttachment | null = null
  let samples: readonly number[] = []

  function setSound(next: SoundState): void {
    if (sound === next) return
    sound = next
    onChange()
  }

  function schedule(ms: number, act: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(act, ms)
  }

  function start({ url, isHls }: Pick<Stream, 'url' | 'isHls'>): void {
    detach()
    schedule(timeoutMs, retry)
    if (isHls) {
      release()
      void startHls(url)
    } else {
      // Setting the source again continues a live stream at the present.
      output.src = url
    }
    // In Safari only the call within the click is allowed, so it does not wait for HLS.
    play()
  }

  async function startHls(url: string): Promise<void> {
    const own = starts
    const retryOwn = () => {
      if (own === starts) retry()
    }
    try {
      const attached = await attachHls(url, retryOwn)
      if (own !== starts) return attached.close()
      hls = attached
      play()
    } catch {
      retryOwn()
    }
  }

  /** Failures are reported by events. A rejection can also mean that another stream replaced this one. */
  const play = () => void output.play().catch(() => {})

  function detach(): void {
    starts++
    hls?.close()
    hls = null
    samples = []
  }

  /** Without a source, nothing is downloaded. */
  function release(): void {
    output.removeAttribute('src')
    output.load()
  }

  function retry(): void {
    if (stream === null) return
    if (retries >= maxRetries) return end('failed')
    const { url, isHls } = stream
    setSound('starting')
    schedule(firstBackoffMs * 2 ** retries, () => start({ url, isHls }))
    retries++
  }

  async function fail(): Promise<void> {
    const own = starts
    const isInVain = stream !== null && !stream.isHls && (await isMissing(stream.url))
    if (own !== starts) return
    if (isInVain) end('missing')
    else retry()
  }

  function end(next: SoundState): void {
    clearTimeout(timer)
    stream = null
    detach()
    setSound(next)
    // A paused stream would continue to download.
    output.pause()
    release()
  }

  output.addEventListener('playing', () => {
    if (stream === null) return
    schedule(stableAfterMs, () => (retries = 0))
    setSound('playing')
  })
  output.addEventListener('waiting', () => {
    if (sound !== 'playing') return
    schedule(timeoutMs, retry)
    setSound('starting')
  })
  output.addEventListener('ended', retry)
  output.addEventListener('error', () => void fail())

  return {
    get sound() {
      return sound
    },
    /** From 0 to 1. */
    get volume() {
      return output.volume
    },
    setVolume(volume: number): void {
      output.volume = volume
      onChange()
    },
    /** Whether the browser may be able to play a media type. */
    canPlay: (type: string) => output.canPlayType(type) !== '',
    /**
     * How many seconds the sound is behind the live edge; 0 before it is heard. While the sound is interrupted, the delay
     * before it.
     */
    delay(): number {
      if (sound === 'playing') {
        const { buffered, currentTime } = output
        const ahead = buffered.length === 0 ? null : buffered.end(buffered.length - 1) - currentTime
        const sample = hls?.delay() ?? ahead
        if (sample !== null) samples = [...samples, sample].slice(-delaySamples)
      }
      return Math.max(0, ...samples)
    },
    /** Starts a stream, which replaces the current one. */
    play(next: Pick<Stream, 'url' | 'isHls'>): void {
      stream = next
      retries = 0
      setSound('starting')
      start(next)
    },
    stop: () => end('silent'),
    /** Stops the stream because the page blocks it. */
    forbid(): void {
      if (stream !== null) end('forbidden')
    }
  }
}
