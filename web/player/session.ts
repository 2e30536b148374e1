import type { Snapshot } from '../client/interface.ts'

/** Tells the system what is playing: its media keys, lock screens and title bars show it. */
export function showSession(
  { np, status }: Snapshot,
  artOf: (address: string) => string,
  acts: { readonly play: () => void; readonly stop: () => void }
): void {
  if (np === null) return
  const { song } = np.now_playing
  const { name } = np.station
  document.title = status === 'live' ? `${song.text || name} · ${name}` : name
  if (!('mediaSession' in navigator)) return
  const { mediaSession } = navigator
  const { title, artist, album } = song
  const before = mediaSession.metadata
  const isShown = before?.title === title && before.artist === (artist || name) && before.album === album
  const art = artOf(song.art)
  const artwork = art === '' ? [] : [{ src: art }]
  if (!isShown) mediaSession.metadata = new MediaMetadata({ title, artist: artist || name, album, artwork })
  mediaSession.setActionHandler('play', acts.play)
  mediaSession.setActionHandler('pause', acts.stop)
  mediaSession.setActionHandler('stop', acts.stop)
}
