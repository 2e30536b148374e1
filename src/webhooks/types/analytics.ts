import { writeOnly, integer, text } from '../../model/fields/field.ts'
import { truncate } from '../format/truncate.ts'
import { songHookType } from './hook-type.ts'
import { encodeQuery, jsonPost, httpContent, urlBelow } from './sending.ts'
import { address, credential, identifier } from './settings.ts'

const longest = 100
const daySeconds = 86_400

/** An event per song in Google Analytics 4 (Measurement Protocol). */
export const googleAnalyticsV4 = songHookType({
  name: 'google_analytics_v4',
  settings: {
    api_secret: credential('The API secret of the data stream.'),
    measurement_id: identifier('The measurement id of the data stream.', 'G-1A2B3C4D5E')
  },
  send(song, query, { happenedAt, nowPlaying: { station, listeners } }) {
    const event = {
      name: 'song_changed',
      params: {
        song_title: truncate(song.title, longest),
        song_artist: truncate(song.artist, longest),
        song_album: truncate(song.album, longest),
        station_name: truncate(station.name, longest),
        listeners: listeners.current,
        // Real-time reports require these two. A session is a day.
        session_id: String(happenedAt - (happenedAt % daySeconds)),
        engagement_time_msec: 1
      }
    }
    const url = `https://www.google-analytics.com/mp/collect?${encodeQuery(query)}`
    const client_id = `cuewire.${station.id}`
    return httpContent(jsonPost(url, { client_id, timestamp_micros: happenedAt * 1e6, events: [event] }))
  }
})

/** An event per song in Matomo, with the number of listeners. */
export const matomoAnalytics = songHookType({
  name: 'matomo_analytics',
  settings: {
    matomo_url: address({ about: 'The address of the Matomo server.', example: 'https://stats.example.com' }),
    site_id: integer({ min: 1, max: 2_147_483_647, about: 'The site in Matomo.' }),
    token: writeOnly(text({ max: 2_000, fallback: '', isTrimmed: true, about: 'A token that may write.' }))
  },
  urls: ['matomo_url'],
  send(song, { matomo_url, site_id, token }, { happenedAt, nowPlaying: { station, listeners } }) {
    const event = encodeQuery({
      idsite: String(site_id),
      rec: '1',
      url: station.public_player_url,
      e_c: station.name,
      e_a: 'song_changed',
      e_n: song.text,
      e_v: String(listeners.current),
      // Matomo accepts a time only with a token.
      ...(token === '' ? {} : { cdt: String(happenedAt) })
    })
    const body = { requests: [`?${event}`], ...(token === '' ? {} : { token_auth: token }) }
    return httpContent(jsonPost(urlBelow(matomo_url, '/matomo.php'), body))
  }
})
