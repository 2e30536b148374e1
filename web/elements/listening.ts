/** How it is with the sound. */
export type Sound = 'silent' | 'starting' | 'playing' | 'failed'

export interface Listening {
  readonly sound: Sound
  /** From 0 to 1. */
  readonly volume: number
  /** Starts a stream, in place of another one. */
  play(url: string): void
  stop(): void
  setVolume(volume: number): void
}

/** A stream that breaks is tried again so often, after growing pauses. */
const triesAtMost = 3
const firstPauseMs = 1_000

/** Plays streams; `onChange` is called whenever the sound is another one. */
export function openListening(onChange: () => void): Listening {
  const audio = new Audio()
  audio.preload = 'none'
  let sound: Sound = 'silent'
  let url = ''
  let tries = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function become(next: Sound): void {
    if (sound === next) return
    sound = next
    onChange()
  }

  function start(): void {
    // Set anew each time: a live stream goes on where it is, not where it was left.
    audio.src = url
    // Refused, or broken: the event tells.
    audio.play().catch(retry)
  }

  function retry(): void {
    if (url === '' || sound === 'failed') return
    clearTimeout(timer)
    if (tries >= triesAtMost) {
      url = ''
      become('failed')
      release()
      return
    }
    become('starting')
    timer = setTimeout(start, firstPauseMs * 2 ** tries)
    tries++
  }

  /** A stream that is only paused goes on filling its buffer. */
  function release(): void {
    audio.pause()
    audio.removeAttribute('src')
    audio.load()
  }

  audio.addEventListener('playing', () => {
    if (url === '') return
    tries = 0
    become('playing')
  })
  audio.addEventListener('waiting', () => {
    if (url !== '') become('starting')
  })
  audio.addEventListener('ended', retry)

  return {
    get sound() {
      return sound
    },
    get volume() {
      return audio.volume
    },
    play: next => {
      clearTimeout(timer)
      url = next
      tries = 0
      become('starting')
      start()
    },
    stop: () => {
      clearTimeout(timer)
      url = ''
      become('silent')
      release()
    },
    setVolume: volume => {
      audio.volume = volume
      onChange()
    }
  }
}

/** Whether this browser says that it may play a type. */
export function canPlay(type: string): boolean {
  return document.createElement('audio').canPlayType(type) !== ''
}
