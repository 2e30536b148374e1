import { airtimeMs } from '../autodj/estimate.ts'
import { interrupts, isPlayable, type Library, type Playlist } from '../autodj/library.ts'
import { windowsBetween } from '../autodj/schedule.ts'
import type { Run } from './run.ts'

/** What a rotation without a schedule has of the time that such rotations share. Shares are 0 to 1. */
export interface Share {
  readonly playlistId: number
  readonly name: string
  readonly weight: number
  readonly plays: number
  readonly airtimeMs: number
  /** Of all airtime: by weight and by the mean length of its tracks, since weights share out plays. */
  readonly expected: number
  readonly measured: number
  /** By how much both may differ: two points, or three standard deviations where there are few plays. */
  readonly allowed: number
}

const aim = 0.02

/**
 * How rotations without a schedule share the time in which no programme is on, by weight. Empty where there
 * is but one.
 */
export function sharesOf({ library, plays, fromMs, untilMs }: Run): Share[] {
  const rotations = library.playlists.filter(isRotation)
  const programmes = windowsOfProgrammes(library, fromMs, untilMs)
  const heard = rotations.map(playlist => ({ playlist, plays: 0, airtimeMs: 0 }))
  for (const { play, startsAtMs, endsAtMs } of plays) {
    const one = heard.find(({ playlist }) => playlist.id === play?.playlistId)
    if (!one || programmes.some(({ startMs, endMs }) => startMs <= startsAtMs && startsAtMs < endMs)) continue
    one.plays++
    one.airtimeMs += endsAtMs - startsAtMs
  }
  const total = sum(heard.map(one => one.plays))
  if (rotations.length < 2 || total === 0) return []
  const totalMs = sum(heard.map(one => one.airtimeMs))
  const wanted = rotations.map(playlist => weightOf(playlist) * meanLengthMs(playlist))
  return heard.map(({ playlist, ...one }, index) => {
    const expected = (wanted[index] ?? 0) / sum(wanted)
    return {
      ...one,
      playlistId: playlist.id,
      name: playlist.name,
      weight: weightOf(playlist),
      expected,
      measured: one.airtimeMs / totalMs,
      allowed: Math.max(aim, 3 * Math.sqrt((expected * (1 - expected)) / total))
    }
  })
}

const isRotation = (playlist: Playlist) =>
  playlist.type === 'default' &&
  playlist.schedule.length === 0 &&
  playlist.source !== 'stream' &&
  isPlayable(playlist) &&
  !interrupts(playlist)

function windowsOfProgrammes({ playlists, rules }: Library, fromMs: number, untilMs: number) {
  return playlists
    .filter(playlist => playlist.type === 'default' && isPlayable(playlist))
    .flatMap(({ schedule }) => windowsBetween(rules.zone, schedule, fromMs, untilMs))
}

/** A weight of 0 reads as 3. */
const weightOf = ({ weight }: Playlist) => weight || 3

const meanLengthMs = ({ tracks }: Playlist) =>
  sum(Array.from(tracks.durations, airtimeMs)) / tracks.durations.length

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
