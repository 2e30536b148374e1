import { playSourceName, type SimulationRun } from './run.ts'

/** Consecutive plays of one source. */
export interface PlayBlock {
  /** Null: a request, a manual play or silence. */
  readonly playlistId: number | null
  /** The name of the playlist, or `request`, `manual` or `silence`. */
  readonly name: string
  readonly fromMs: number
  readonly untilMs: number
  readonly songs: number
}

/** Joins consecutive plays of one source, up to the end of the run. */
export function joinPlaysToBlocks({ library, plays, untilMs }: SimulationRun): PlayBlock[] {
  const blocks: PlayBlock[] = []
  for (const each of plays) {
    const playlistId = each.play?.playlistId ?? null
    const name = playSourceName(library.playlists, each)
    const endsAtMs = Math.min(each.endsAtMs, untilMs)
    const songs = each.play === null ? 0 : 1
    const last = blocks.at(-1)
    if (last?.playlistId === playlistId && last.name === name)
      blocks[blocks.length - 1] = { ...last, untilMs: endsAtMs, songs: last.songs + songs }
    else blocks.push({ playlistId, name, fromMs: each.startsAtMs, untilMs: endsAtMs, songs })
  }
  return blocks
}
