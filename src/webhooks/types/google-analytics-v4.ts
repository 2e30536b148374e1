import { songChanges } from '../allowed-triggers.ts'
import { jsonPost, nothing, queryOf, requests } from '../deliveries/sending.ts'
import { playedSong, silentText } from '../format/now-playing-body.ts'
import { truncate } from '../format/truncate.ts'
import { credential, identifier } from '../settings.ts'
import { hookType } from './hook-type.ts'

const longest = 100
const daySeconds = 86_400

/** An event per song in Google Analytics 4 (Measurement Protocol). */
export const googleAnalyticsV4 = hookType({
  name: 'google_analytics_v4',
  title: 'Google Analytics 4',
  triggers: songChanges,
  settings: {
    api_secret: credential('The API secret of the data stream.'),
    measurement_id: identifier('The measurement id of the data stream.', 'G-1A2B3C4D5E')
  },
  send({ happenedAt, nowPlaying }, { api_secret, measurement_id }) {
    const song = playedSong(nowPlaying)
    if (song === null) return nothing(silentText)
    const { station, listeners } = nowPlaying
    const event = {
      name: 'song_changed',
      params: {
        song_title: truncate(song.title, longest),
        song_artist: truncate(song.artist, longest),
        song_album: truncate(song.album, longest),
        station_name: truncate(station.name, longest),
        listeners: listeners.current,
        // Without these two the reports of the last half hour do not show it; one session is one day.
        session_id: String(happenedAt - (happenedAt % daySeconds)),
        engagement_time_msec: 1
      }
    }
    const url = `https://www.google-analytics.com/mp/collect?${queryOf({ api_secret, measurement_id })}`
    const client_id = `cuewire.${station.id}`
    return requests(jsonPost(url, { client_id, timestamp_micros: happenedAt * 1e6, events: [event] }))
  }
})
