/** Where a song begins and ends on air, its fades, and its gain. Null: unknown. */
export interface CuePoints {
  readonly cueInMs: number | null
  readonly cueOutMs: number | null
  /** When the next song starts, in the time of the file. */
  readonly startNextMs: number | null
  readonly fadeInMs: number | null
  readonly fadeOutMs: number | null
  readonly amplifyDb: number | null
}

export type CuePoint = keyof CuePoints

export const noCuePoints: CuePoints = {
  cueInMs: null,
  cueOutMs: null,
  startNextMs: null,
  fadeInMs: null,
  fadeOutMs: null,
  amplifyDb: null
}

const isCuePoint = (name: string): name is CuePoint => name in noCuePoints

export const cuePointNames: readonly CuePoint[] = Object.keys(noCuePoints).filter(isCuePoint)

/** A cue after those that decide whether it fits. */
const byDependence = ['cueOutMs', 'cueInMs', 'startNextMs', 'fadeInMs', 'fadeOutMs', 'amplifyDb'] as const

export const maxAmplifyDb = 60

/** Rounds to hundredths of a decibel. */
export const roundDecibels = (decibels: number) => Math.round(decibels * 100) / 100

/** A cue that does not fit the duration or the others. The sentence follows its name. */
export interface CueProblem {
  readonly name: CuePoint
  readonly sentence: string
}

/** Finds the cues that do not fit a song of this duration (0: unknown) or each other. */
export function findCueProblems(cues: CuePoints, durationMs: number): CueProblem[] {
  const { cueInMs, cueOutMs, startNextMs, fadeInMs, fadeOutMs, amplifyDb } = cues
  const problems: CueProblem[] = []
  const add = (name: CuePoint, isProblem: boolean, sentence: string) => {
    if (isProblem) problems.push({ name, sentence })
  }
  const startMs = cueInMs ?? 0
  const lengthMs = durationMs === 0 ? Infinity : durationMs
  const endMs = cueOutMs ?? lengthMs
  const length = formatSeconds(lengthMs)
  add('cueOutMs', endMs > lengthMs, `must not be after the end of the song (${length} seconds).`)
  add('cueOutMs', cueOutMs !== null && cueOutMs <= startMs, 'must be after cue_in.')
  add(
    'cueInMs',
    cueOutMs === null && startMs >= lengthMs,
    `must be before the end of the song (${length} seconds).`
  )
  if (problems.length > 0) return problems
  const isOutside = startNextMs !== null && (startNextMs <= startMs || startNextMs > endMs)
  add('startNextMs', isOutside, 'must be after cue_in and not after the end of the song on air.')
  const airMs = endMs - startMs
  const sentence = `must not be longer than the song on air (${formatSeconds(airMs)} seconds).`
  add('fadeInMs', (fadeInMs ?? 0) > airMs, sentence)
  add('fadeOutMs', (fadeOutMs ?? 0) > airMs, sentence)
  const range = `must be from -${maxAmplifyDb} to ${maxAmplifyDb}.`
  add('amplifyDb', amplifyDb !== null && !(Math.abs(amplifyDb) <= maxAmplifyDb), range)
  return problems
}

/** Formats milliseconds as seconds with up to three decimals. */
const formatSeconds = (ms: number): string => String(ms / 1_000)

/** Adds those of `more` that are unknown in `cues` and that fit the song and the others. */
export function completeCuePoints(cues: CuePoints, more: CuePoints, durationMs: number): CuePoints {
  return byDependence.reduce((known, name) => {
    if (known[name] !== null || more[name] === null) return known
    const next = { ...known, [name]: more[name] }
    return findCueProblems(next, durationMs).length === 0 ? next : known
  }, cues)
}

/** Returns the cues that fit a song of this duration (0: unknown). */
export const fitCuePoints = (cues: CuePoints, durationMs: number): CuePoints =>
  completeCuePoints(noCuePoints, cues, durationMs)
