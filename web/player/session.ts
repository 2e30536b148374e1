import type { Snapshot } from '../client/interface.ts'
import { isOn, type Sound } from '../elements/listening.ts'

/**
 * Tells the system what is playing: its media keys, lock screens and title bars show it. `lastName`: what the station was
 * called, where it is gone.
 */
export function showSession(
  { np, status }: Snapshot,
  lastName: string,
  artOf: (address: string) => string,
  acts: { readonly play: () => void; readonly stop: () => void }
): void {
  const name = np?.station.name ?? lastName
  document.title = np !== null && status === 'live' ? `${np.now_playing.song.text || name} · ${name}` : name
  if (!('mediaSession' in navigator)) return
  const { mediaSession } = navigator
  if (np === null) {
    // Nobody knows what the stream plays.
    mediaSession.metadata = null
    return
  }
  const { title, artist: by, album, art } = np.now_playing.song
  const artist = by || name
  const before = mediaSession.metadata
  const isShown = before?.title === title && before.artist === artist && before.album === album
  const src = artOf(art)
  const artwork = src === '' ? [] : [{ src }]
  if (!isShown) mediaSession.metadata = new MediaMetadata({ title, artist, album, artwork })
  mediaSession.setActionHandler('play', acts.play)
  mediaSession.setActionHandler('pause', acts.stop)
  mediaSession.setActionHandler('stop', acts.stop)
}

/** Tells the system whether there is sound. */
export function showSound(sound: Sound): void {
  if ('mediaSession' in navigator) navigator.mediaSession.playbackState = isOn(sound) ? 'playing' : 'none'
}
