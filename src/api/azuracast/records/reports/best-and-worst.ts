import type { RecordDialect } from '../../record-dialect.ts'
import { openSongRenderer, type HasSong } from '../library/song.ts'

type BestAndWorst = {
  readonly bestAndWorst: { readonly best: readonly HasSong[]; readonly worst: readonly HasSong[] }
  readonly mostPlayed: readonly HasSong[]
}

/** Songs of a report, by their gain of listeners and by plays. */
export const bestAndWorst: RecordDialect<BestAndWorst> = {
  async render(rows, { sql }) {
    const renderSong = await openSongRenderer(sql)
    const render = (songs: readonly HasSong[]) => songs.map(row => ({ ...row, song: renderSong(row.song) }))
    return rows.map(({ bestAndWorst: { best, worst }, mostPlayed }) => ({
      bestAndWorst: { best: render(best), worst: render(worst) },
      mostPlayed: render(mostPlayed)
    }))
  }
}
