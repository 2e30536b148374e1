/** The cue points of a file in seconds, as in its `extra_metadata`; null: unknown. */
export interface Cues {
  readonly cue_in: number | null
  readonly cue_out: number | null
  readonly fade_in: number | null
  readonly fade_out: number | null
  readonly cross_start_next: number | null
}
export type CueName = keyof Cues

export const cueNames = [
  'cue_in',
  'fade_in',
  'cross_start_next',
  'fade_out',
  'cue_out'
] as const satisfies CueName[]

export const cueTitles: Readonly<Record<CueName, string>> = {
  cue_in: 'Cue in',
  fade_in: 'Fade in',
  cross_start_next: 'Start next',
  fade_out: 'Fade out',
  cue_out: 'Cue out'
}

/** What a value means, for the fields beside the waveform. */
export const cueHelp: Readonly<Record<CueName, string>> = {
  cue_in: 'Where the song starts, in seconds of the file.',
  fade_in: 'How long it fades in, in seconds from cue in.',
  cross_start_next: 'When the next song starts, in seconds of the file.',
  fade_out: 'How long it fades out, in seconds before cue out.',
  cue_out: 'Where the song ends, in seconds of the file.'
}

/** The shortest song on air. */
const minSeconds = 0.1

/** Where the handle of a value is, in seconds of the file. That of a fade is at its inner end. */
export function resolveCuePosition(name: CueName, cues: Cues, duration: number): number {
  const start = cues.cue_in ?? 0
  const end = cues.cue_out ?? duration
  switch (name) {
    case 'cue_in':
      return start
    case 'cue_out':
      return end
    case 'fade_in':
      return start + (cues.fade_in ?? 0)
    case 'fade_out':
      return end - (cues.fade_out ?? 0)
    case 'cross_start_next':
      return cues.cross_start_next ?? end
    default:
      return name satisfies never
  }
}

/** Moves the handle of a value to a position, as far as the other values allow it. */
export function moveCue(name: CueName, position: number, cues: Cues, duration: number): Cues {
  const start = cues.cue_in ?? 0
  const end = cues.cue_out ?? duration
  const between = (least: number, most: number) => roundToMs(Math.max(least, Math.min(most, position)))
  switch (name) {
    case 'cue_in':
      return keepInside({ ...cues, cue_in: between(0, end - minSeconds) }, duration)
    case 'cue_out':
      return keepInside({ ...cues, cue_out: between(start + minSeconds, duration) }, duration)
    case 'fade_in':
      return { ...cues, fade_in: roundToMs(between(start, end) - start) }
    case 'fade_out':
      return { ...cues, fade_out: roundToMs(end - between(start, end)) }
    case 'cross_start_next':
      return { ...cues, cross_start_next: between(start + minSeconds, end) }
    default:
      return name satisfies never
  }
}

/** Moves the other values into the part that is on air. */
function keepInside(cues: Cues, duration: number): Cues {
  const start = cues.cue_in ?? 0
  const end = cues.cue_out ?? duration
  const limitFade = (fade: number | null) => (fade === null ? null : roundToMs(Math.min(fade, end - start)))
  const next = cues.cross_start_next
  return {
    ...cues,
    fade_in: limitFade(cues.fade_in),
    fade_out: limitFade(cues.fade_out),
    cross_start_next: next === null ? null : Math.max(roundToMs(start + minSeconds), Math.min(end, next))
  }
}

/** How far a key moves a handle, in seconds; null for other keys. */
export function cueStep(key: string, isLarge: boolean): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: isLarge ? -1 : -0.1,
    ArrowRight: isLarge ? 1 : 0.1,
    ArrowDown: isLarge ? -1 : -0.1,
    ArrowUp: isLarge ? 1 : 0.1,
    PageDown: -10,
    PageUp: 10,
    Home: -Infinity,
    End: Infinity
  }
  return steps[key] ?? null
}

const roundToMs = (seconds: number) => Math.round(seconds * 1_000) / 1_000

/** `1:02.5` */
export function formatCuePosition(seconds: number): string {
  const tenths = Math.round(Math.max(0, seconds) * 10)
  const rest = String(Math.floor(tenths / 10) % 60).padStart(2, '0')
  return `${Math.floor(tenths / 600)}:${rest}.${tenths % 10}`
}
