import type { StationChange } from './change-station.ts'
import { keepEntries, type RemotePlaylist } from './remote-entries.ts'

/** The settings of a playlist that say where its songs come from. */
export interface Source {
  readonly name: string
  readonly source: string
  readonly remote_url: string
  readonly remote_type: string
}

/** Songs of the library; a list, which the workers fetch; or one thing that goes on for as long as it is let. */
type Kind = 'songs' | 'list' | 'single'

function kindOf({ source, remote_type: type }: Source): Kind {
  if (source !== 'remote_url') return 'songs'
  return type === 'playlist' ? 'list' : 'single'
}

/**
 * Makes the entries of a playlist follow its settings, in the transaction that saves them and holds the station's row. A
 * stream has one entry, named after the playlist. A list has none until it was fetched from this address, which is
 * done as soon as a worker looks. Gives whether the entries are other ones.
 */
export async function followSource(
  change: StationChange,
  playlist: RemotePlaylist,
  before: Source | null,
  after: Source
): Promise<boolean> {
  const was = before ? kindOf(before) : 'songs'
  const is = kindOf(after)
  if (was === 'songs' && is === 'songs') return false
  if (was === 'list' && is === 'list' && before?.remote_url === after.remote_url) return false
  // What a worker may be fetching from the former address is refused by this.
  if (was === 'list' || is === 'list')
    await change.tx`
      update playlists set fetched_at_ms = 0, fetch_at_ms = 0, fetch_problem = '', failing_since_ms = null
      where id = ${playlist.id}`
  const single = { path: after.remote_url, artist: '', title: after.name, durationMs: 0 }
  return keepEntries(change, playlist, is === 'single' ? [single] : [])
}
