/** `forbidden`: the Content-Security-Policy of the page blocks the stream. */
export type SoundState = 'silent' | 'starting' | 'playing' | 'failed' | 'forbidden'

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

export type AudioPlayer = ReturnType<typeof openAudioPlayer>

/** Plays one stream at a time. `onChange` is called when `sound` or `volume` changes. */
export function openAudioPlayer(output: AudioOutput, onChange: () => void) {
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
    /** Starts a stream, which replaces the current one. */
    play(next: string): void {
      url = next
      retries = 0
      setSound('starting')
      start()
    },
    stop: () => end('silent'),
    /** Stops the stream because the page blocks it. */
    forbid(): void {
      if (url !== '') end('forbidden')
    }
  }
}
