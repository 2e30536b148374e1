import type { RecordDialect } from '../../record-dialect.ts'
import { openSongRenderer, type RecordWithSong } from '../library/song.ts'

type BestAndWorst = {
  readonly bestAndWorst: {
    readonly best: readonly RecordWithSong[]
    readonly worst: readonly RecordWithSong[]
  }
  readonly mostPlayed: readonly RecordWithSong[]
}

/** Songs of a report, by their gain of listeners and by plays. */
export const bestAndWorstDialect: RecordDialect<BestAndWorst> = {
  async render(rows, { sql }) {
    const renderSong = await openSongRenderer(sql)
    const render = (songs: readonly RecordWithSong[]) =>
      songs.map(row => ({ ...row, song: renderSong(row.song) }))
    return rows.map(({ bestAndWorst: { best, worst }, mostPlayed }) => ({
      bestAndWorst: { best: render(best), worst: render(worst) },
      mostPlayed: render(mostPlayed)
    }))
  }
}
