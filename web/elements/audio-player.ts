import type { PlayableStream } from './streams.ts'

/**
 * `retrying`: the stream has failed several times, and is tried again until it plays or is stopped. `missing`: the
 * station has no streaming server. `forbidden`: the Content-Security-Policy of the page blocks the stream.
 */
export type SoundState = 'silent' | 'starting' | 'playing' | 'retrying' | 'missing' | 'forbidden'

/** The part of an `Audio` element that is used. */
export interface AudioOutput {
  src: string
  volume: number
  readonly currentTime: number
  readonly paused: boolean
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
export type IsStreamMissing = (url: string) => Promise<boolean>

/**
 * The backoff doubles from retry to retry, up to the longest. Jitter of a quarter spreads the listeners of a server.
 */
const firstBackoffMs = 1_000
const maxBackoffMs = 20_000
/** After so many failures in a row a message says that the stream does not respond. */
const failuresUntilRetrying = 4
/** A stream that is silent for this time has failed. */
const timeoutMs = 15_000
/** The backoff starts over after a stream has played for this time. */
const stableAfterMs = 10_000
/** How often it is checked that what plays advances: browsers do not report every stream that stops. */
const progressCheckMs = 5_000
/** Data arrives in pieces, so the largest of the last samples, over about five seconds, is the delay. */
const delaySamples = 20

export const isSoundActive = (sound: SoundState) =>
  sound === 'playing' || sound === 'starting' || sound === 'retrying'

export type AudioPlayer = ReturnType<typeof openAudioPlayer>

/**
 * Plays one stream at a time, and tries again for as long as the listener wants to hear it. `onChange` is called when
 * `sound` or `volume` changes. `attachHls` connects the output with an HLS stream; `isMissing` is asked about another
 * stream that fails before it was heard.
 */
export function openAudioPlayer(
  output: AudioOutput,
  onChange: () => void,
  attachHls: AttachHls,
  isMissing: IsStreamMissing
) {
  let sound: SoundState = 'silent'
  let stream: Pick<PlayableStream, 'url' | 'isHls'> | null = null
  /** Failures in a row. */
  let failures = 0
  let wasHeard = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let progressTimer: ReturnType<typeof setTimeout> | undefined
  /** Counts the starts, so that what belongs to an earlier one is ignored. */
  let starts = 0
  let isBackingOff = false
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

  function start({ url, isHls }: Pick<PlayableStream, 'url' | 'isHls'>): void {
    detach()
    isBackingOff = false
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
      if (own === starts && !isBackingOff) retry()
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
    const { url, isHls } = stream
    failures++
    setSound(failures < failuresUntilRetrying ? 'starting' : 'retrying')
    const backoffMs = Math.min(maxBackoffMs, firstBackoffMs * 2 ** (failures - 1))
    isBackingOff = true
    clearTimeout(progressTimer)
    schedule(backoffMs * (0.75 + Math.random() / 2), () => start({ url, isHls }))
  }

  async function fail(): Promise<void> {
    // A source that was already abandoned may fail once more.
    if (stream === null || isBackingOff) return
    const own = starts
    const isInVain = !stream.isHls && !wasHeard && (await isMissing(stream.url))
    if (own !== starts || isBackingOff) return
    if (isInVain) end('missing')
    else retry()
  }

  /** Starts what plays again, without waiting for the rest of the backoff. */
  function wake(): void {
    if (stream !== null && isBackingOff) start(stream)
  }

  /** Starts over if what plays has not advanced for a while. */
  function watchProgress(heardSeconds: number, sinceMs: number): void {
    clearTimeout(progressTimer)
    progressTimer = setTimeout(() => {
      const { currentTime } = output
      // The system pauses what plays, for a call for instance.
      if (currentTime !== heardSeconds || output.paused) watchProgress(currentTime, Date.now())
      else if (Date.now() - sinceMs >= timeoutMs) retry()
      else watchProgress(heardSeconds, sinceMs)
    }, progressCheckMs)
  }

  function end(next: SoundState): void {
    clearTimeout(timer)
    clearTimeout(progressTimer)
    stream = null
    isBackingOff = false
    detach()
    setSound(next)
    // A paused stream would continue to download.
    output.pause()
    release()
  }

  output.addEventListener('playing', () => {
    if (stream === null || isBackingOff) return
    wasHeard = true
    schedule(stableAfterMs, () => (failures = 0))
    watchProgress(output.currentTime, Date.now())
    setSound('playing')
  })
  output.addEventListener('waiting', () => {
    if (sound !== 'playing') return
    schedule(timeoutMs, retry)
    setSound('starting')
  })
  output.addEventListener('ended', () => {
    if (!isBackingOff) retry()
  })
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
     * How many seconds the sound is behind the live edge; 0 before it is heard. While the sound is interrupted, the
     * delay before it.
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
    play(next: Pick<PlayableStream, 'url' | 'isHls'>): void {
      stream = next
      failures = 0
      wasHeard = false
      clearTimeout(progressTimer)
      setSound('starting')
      start(next)
    },
    stop: () => end('silent'),
    /** Tries at once, for when the network is back or the page is visible again. */
    wake,
    /** Takes a new address of the stream that plays: at once if it fails now, else with the next retry. */
    move(next: Pick<PlayableStream, 'url' | 'isHls'>): void {
      if (stream === null || stream.url === next.url) return
      stream = next
      wake()
    },
    /** Stops the stream because the page blocks it. */
    forbid(): void {
      if (stream !== null) end('forbidden')
    }
  }
}
