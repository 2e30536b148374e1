/**
 * What makes two songs clash, as 52-bit numbers: equal texts have equal keys. `title` is 0 for a song without one,
 * which clashes with none. See `src/songs/clash-keys.ts`.
 */
export interface SongKeys {
  readonly song: number
  readonly title: number
  readonly artists: readonly number[]
}
