import type { Violation } from './violation.ts'

/** A play of a shuffled or sequential playlist. */
export interface RotationPlay {
  readonly id: number
  readonly playlistId: number
  readonly trackId: number
  /** The run through the songs of the playlist that it belongs to. */
  readonly pass: number
}

/**
 * Checks the rotation of a station: no song is more than one pass ahead of another of its playlist, so a play
 * belongs to the newest pass of its playlist, the one before it or the next one; and no song is played twice in
 * a pass. `plays` are ordered by id. Returns all violations.
 */
export function judgeRotation(stationId: number, plays: readonly RotationPlay[]): Violation[] {
  const newestPass = new Map<number, number>()
  const played = new Set<string>()
  return plays.flatMap(({ id, playlistId, trackId, pass }) => {
    const newest = newestPass.get(playlistId) ?? pass
    newestPass.set(playlistId, Math.max(newest, pass))
    const key = `${trackId} ${pass}`
    const isRepeated = played.has(key)
    played.add(key)
    const song = `play ${id}: track ${trackId} of playlist ${playlistId}`
    const problems: [rule: string, detail: string][] = []
    if (Math.abs(pass - newest) > 1)
      problems.push(['no song is a pass ahead', `${song} plays in pass ${pass} after pass ${newest}`])
    if (isRepeated) problems.push(['no song twice in a pass', `${song} plays again in pass ${pass}`])
    return problems.map(([rule, detail]) => ({ rule, stationId, detail }))
  })
}
