import type { Song, StationState } from '../station/state.ts'

/** The log line of a song change: data for programs, a sentence for people. */
export function nowPlayingLine(state: StationState): [data: { station: string; play: number }, text: string] {
  const { profile, shown, next } = state
  const data = { station: profile.shortName, play: state.current?.shId ?? 0 }
  if (!shown) return [data, `${profile.shortName}: silent, nothing to play`]
  const following = next ? `, next: ${title(next.song)}` : ''
  return [data, `${profile.shortName}: ${title(shown.song)} (${length(shown.durationMs)})${following}`]
}

function title(song: Song): string {
  return [song.artist, song.title].filter(part => part !== '').join(' - ')
}

function length(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
