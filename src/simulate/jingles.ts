import type { Run } from './run.ts'

/** How jingles are spread. */
export interface Jingles {
  /** Jingles that followed a jingle. */
  readonly inARow: number
  /** Jingles beside an identification of the hour, which goes by the clock: these may follow each other. */
  readonly besideHourly: number
  readonly spacings: readonly Spacing[]
}

/** The songs between two plays of a playlist that counts songs. */
export interface Spacing {
  readonly playlistId: number
  readonly name: string
  /** As it was told. */
  readonly everySongs: number
  readonly plays: number
  /** 0 where it was not played twice. */
  readonly least: number
  readonly median: number
  readonly most: number
}

/** Counts jingles that follow each other, and the songs between them. */
export function jinglesOf({ library, plays }: Run): Jingles {
  const { playlists } = library
  const hourly = new Set(playlists.filter(({ type }) => type === 'once_per_hour').map(({ id }) => id))
  let inARow = 0
  let besideHourly = 0
  plays.forEach(({ play }, index) => {
    const before = plays[index - 1]?.play
    if (!play || !before || play.isVisible || before.isVisible) return
    if (hourly.has(play.playlistId ?? 0) || hourly.has(before.playlistId ?? 0)) besideHourly++
    else inARow++
  })
  const counting = playlists.filter(({ type, everySongs }) => type === 'once_per_x_songs' && everySongs > 0)
  const spacings = counting.map(({ id, name, everySongs }) => {
    const ordered = gapsOf(id).toSorted((a, b) => a - b)
    return {
      playlistId: id,
      name,
      everySongs,
      plays: plays.filter(({ play }) => play?.playlistId === id).length,
      least: ordered[0] ?? 0,
      median: ordered[Math.floor((ordered.length - 1) / 2)] ?? 0,
      most: ordered.at(-1) ?? 0
    }
  })
  return { inARow, besideHourly, spacings }

  function gapsOf(playlistId: number): number[] {
    const gaps: number[] = []
    let songs: number | null = null
    for (const { play } of plays) {
      if (play?.playlistId === playlistId) {
        if (songs !== null) gaps.push(songs)
        songs = 0
      } else if (play?.isVisible && songs !== null) songs++
    }
    return gaps
  }
}
