/** What says when a playlist plays. */
export interface Turns {
  readonly type: string
  readonly source: string
  readonly remote_type: string
  readonly weight: number
  readonly play_per_songs: number
  readonly play_per_minutes: number
  readonly play_per_hour_minute: number
}

/** When a playlist has its turn, in words. */
export function turnsText(playlist: Turns): string {
  const { type, source, remote_type: remoteType, weight } = playlist
  if (source === 'remote_url' && remoteType !== 'playlist') return 'Stream, where nothing else plays'
  switch (type) {
    case 'once_per_x_songs':
      return every(playlist.play_per_songs, 'song')
    case 'once_per_x_minutes':
      return every(playlist.play_per_minutes, 'minute')
    case 'once_per_hour':
      return `Once an hour, at :${String(playlist.play_per_hour_minute).padStart(2, '0')}`
    case 'custom':
      return 'By hand only'
    default:
      return `Rotation, weight ${weight}`
  }
}

function every(count: number, unit: string): string {
  if (count === 0) return 'Never'
  return count === 1 ? `Every ${unit}` : `Every ${count} ${unit}s`
}
