import type { NowPlaying } from './event.ts'

/** Receivers may count on bodies of this size (Standard Webhooks). */
const longest = 20_480

/**
 * A now-playing object as JSON of at most 20 KiB: history is left out from its end, then the words of the next song and
 * of this one. Nothing else is.
 */
export function boundedJson(nowPlaying: NowPlaying): string {
  const { song_history: history, now_playing: playing, playing_next: next } = nowPlaying
  let size = Buffer.byteLength(JSON.stringify(nowPlaying))
  let kept = history.length
  for (; size > longest && kept > 0; kept--) size -= Buffer.byteLength(JSON.stringify(history[kept - 1])) + 1
  const shorter = { ...nowPlaying, song_history: history.slice(0, kept) }
  const withoutNext = { ...shorter, playing_next: next && { ...next, song: { ...next.song, lyrics: '' } } }
  const without = { ...withoutNext, now_playing: { ...playing, song: { ...playing.song, lyrics: '' } } }
  const texts = [shorter, withoutNext, without].map(each => JSON.stringify(each))
  return texts.find(text => Buffer.byteLength(text) <= longest) ?? texts.at(-1) ?? ''
}
