/** `forbidden`: the Content-Security-Policy of the page blocks the stream. */
export type SoundState = 'silent' | 'starting' | 'playing' | 'failed' | 'forbidden'

/** Plays one stream at a time. */
export interface AudioPlayer {
  readonly sound: SoundState
  /** From 0 to 1. */
  readonly volume: number
  /** Starts a stream. Another stream is replaced. */
  play(url: string): void
  stop(): void
  /** Stops the stream because the page blocks it. */
  forbid(): void
  setVolume(volume: number): void
  /** Whether the browser may be able to play a media type. */
  readonly canPlay: (type: string) => boolean
}

/** The part of an `Audio` element that is used. */
export interface AudioOutput {
  src: string
  volume: number
  play(): Promise<void>
  pause(): void
  load(): void
  removeAttribute(name: 'src'): void
  canPlayType(type: string): string
  addEventListener(type: 'playing' | 'waiting' | 'ended' | 'error', listener: () => void): void
}

/** Retries of a stream that fails, each after twice the backoff. */
const maxRetries = 3
const firstBackoffMs = 1_000
/** A stream that is silent for this time has failed. */
const timeoutMs = 15_000
/** A stream that plays for this time gets its retries back. */
const stableAfterMs = 10_000

export const isActive = (sound: SoundState) => sound === 'playing' || sound === 'starting'

/** Returns a player for an audio element. `onChange` is called when `sound` or `volume` changes. */
export function openAudioPlayer(output: AudioOutput, onChange: () => void): AudioPlayer {
  let sound: SoundState = 'silent'
  let url = ''
  let retries = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function setSound(next: SoundState): void {
    if (sound === next) return
    sound = next
    onChange()
  }

  function schedule(ms: number, act: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(act, ms)
  }

  function start(): void {
    // Setting the source again continues a live stream at the present.
    output.src = url
    schedule(timeoutMs, retry)
    // Failures are reported by events. A rejection can also mean that another stream replaced this one.
    output.play().catch(() => {})
  }

  function retry(): void {
    if (url === '') return
    if (retries >= maxRetries) return end('failed')
    setSound('starting')
    schedule(firstBackoffMs * 2 ** retries, start)
    retries++
  }

  function end(next: SoundState): void {
    clearTimeout(timer)
    url = ''
    setSound(next)
    // A paused stream would continue to download.
    output.pause()
    output.removeAttribute('src')
    output.load()
  }

  output.addEventListener('playing', () => {
    if (url === '') return
    schedule(stableAfterMs, () => (retries = 0))
    setSound('playing')
  })
  output.addEventListener('waiting', () => {
    if (sound !== 'playing') return
    schedule(timeoutMs, retry)
    setSound('starting')
  })
  output.addEventListener('ended', retry)
  output.addEventListener('error', retry)

  return {
    get sound() {
      return sound
    },
    get volume() {
      return output.volume
    },
    play: next => {
      url = next
      retries = 0
      setSound('starting')
      start()
    },
    stop: () => end('silent'),
    forbid: () => {
      if (url !== '') end('forbidden')
    },
    canPlay: type => output.canPlayType(type) !== '',
    setVolume: volume => {
      output.volume = volume
      onChange()
    }
  }
}
