import type { Snapshot } from '../client/interface.ts'
import { isSoundActive, type SoundState } from '../elements/audio-player.ts'

/**
 * Sets the title of the page, and the metadata and actions that media keys and lock screens use. `lastName` is
 * the name of a station that no longer exists.
 */
export function updateMediaSession(
  { np, status }: Snapshot,
  lastName: string,
  artUrl: (address: string) => string,
  actions: { readonly play: () => void; readonly stop: () => void }
): void {
  const name = np?.station.name ?? lastName
  document.title = np !== null && status === 'live' ? `${np.now_playing.song.text || name} · ${name}` : name
  if (!('mediaSession' in navigator)) return
  const { mediaSession } = navigator
  if (np === null) {
    mediaSession.metadata = null
    return
  }
  const { title, artist: songArtist, album, art } = np.now_playing.song
  const artist = songArtist || name
  const before = mediaSession.metadata
  const src = artUrl(art)
  const artwork = src === '' ? [] : [{ src }]
  const isShown =
    before?.title === title &&
    before.artist === artist &&
    before.album === album &&
    (before.artwork[0]?.src ?? '') === src
  if (!isShown) mediaSession.metadata = new MediaMetadata({ title, artist, album, artwork })
  mediaSession.setActionHandler('play', actions.play)
  mediaSession.setActionHandler('pause', actions.stop)
  mediaSession.setActionHandler('stop', actions.stop)
}

export function updatePlaybackState(sound: SoundState): void {
  if ('mediaSession' in navigator)
    navigator.mediaSession.playbackState = isSoundActive(sound) ? 'playing' : 'none'
}
