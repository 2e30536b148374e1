/** How it is with the sound; `forbidden`: the page may not play this stream. */
export type Sound = 'silent' | 'starting' | 'playing' | 'failed' | 'forbidden'

export interface Listening {
  readonly sound: Sound
  /** From 0 to 1. */
  readonly volume: number
  /** Starts a stream, in place of another one. */
  play(url: string): void
  stop(): void
  /** The stream is not to be had in this page: it is not tried again. */
  forbid(): void
  setVolume(volume: number): void
}

/** What sounds: as much of an `Audio` as is needed. */
export interface Speaker {
  src: string
  volume: number
  play(): Promise<void>
  pause(): void
  load(): void
  removeAttribute(name: 'src'): void
  addEventListener(type: 'playing' | 'waiting' | 'ended' | 'error', listener: () => void): void
}

/** A stream that breaks is tried again so often, after growing pauses. */
const triesAtMost = 3
const firstPauseMs = 1_000
/** A stream that is silent for so long is broken. */
const timeoutMs = 15_000
/** What sounds for so long holds: the tries begin anew. */
const steadyMs = 10_000

export const isOn = (sound: Sound) => sound === 'playing' || sound === 'starting'

/** Plays streams; `onChange` is called whenever the sound is another one. */
export function openListening(speaker: Speaker, onChange: () => void): Listening {
  let sound: Sound = 'silent'
  let url = ''
  let tries = 0
  /** What happens next, if nothing else does. */
  let timer: ReturnType<typeof setTimeout> | undefined

  function become(next: Sound): void {
    if (sound === next) return
    sound = next
    onChange()
  }

  function after(ms: number, act: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(act, ms)
  }

  function start(): void {
    // Set anew each time: a live stream goes on where it is, not where it was left.
    speaker.src = url
    after(timeoutMs, retry)
    // Why it does not play, another event tells; that it was replaced by another stream is no failure.
    speaker.play().catch(() => {})
  }

  function retry(): void {
    if (url === '') return
    if (tries >= triesAtMost) return end('failed')
    become('starting')
    after(firstPauseMs * 2 ** tries, start)
    tries++
  }

  function end(next: Sound): void {
    clearTimeout(timer)
    url = ''
    become(next)
    // A stream that is only paused goes on filling its buffer.
    speaker.pause()
    speaker.removeAttribute('src')
    speaker.load()
  }

  speaker.addEventListener('playing', () => {
    if (url === '') return
    after(steadyMs, () => (tries = 0))
    become('playing')
  })
  speaker.addEventListener('waiting', () => {
    if (sound !== 'playing') return
    after(timeoutMs, retry)
    become('starting')
  })
  speaker.addEventListener('ended', retry)
  speaker.addEventListener('error', retry)

  return {
    get sound() {
      return sound
    },
    get volume() {
      return speaker.volume
    },
    play: next => {
      url = next
      tries = 0
      become('starting')
      start()
    },
    stop: () => end('silent'),
    forbid: () => {
      if (url !== '') end('forbidden')
    },
    setVolume: volume => {
      speaker.volume = volume
      onChange()
    }
  }
}
