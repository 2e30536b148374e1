import { writeOnlyField, integerField, textField } from '../../model/fields/field.ts'
import { truncateCharacters } from '../format/truncate.ts'
import { encodeQuery, jsonPostRequest, httpDeliveryContent, appendUrlPath } from './delivery-content.ts'
import { addressSetting, credentialSetting, identifierSetting } from './hook-settings.ts'
import { defineSongHookType } from './hook-type.ts'

const longest = 100
const daySeconds = 86_400

/** An event per song in Google Analytics 4 (Measurement Protocol). */
export const googleAnalyticsV4HookType = defineSongHookType({
  name: 'google_analytics_v4',
  settings: {
    api_secret: credentialSetting('The API secret of the data stream.'),
    measurement_id: identifierSetting('The measurement id of the data stream.', 'G-1A2B3C4D5E')
  },
  send(song, query, { happenedAt, nowPlaying: { station, listeners } }) {
    const event = {
      name: 'song_changed',
      params: {
        song_title: truncateCharacters(song.title, longest),
        song_artist: truncateCharacters(song.artist, longest),
        song_album: truncateCharacters(song.album, longest),
        station_name: truncateCharacters(station.name, longest),
        listeners: listeners.current,
        // Real-time reports require these two. A session is a day.
        session_id: String(happenedAt - (happenedAt % daySeconds)),
        engagement_time_msec: 1
      }
    }
    const url = `https://www.google-analytics.com/mp/collect?${encodeQuery(query)}`
    const client_id = `cuewire.${station.id}`
    return httpDeliveryContent(
      jsonPostRequest(url, { client_id, timestamp_micros: happenedAt * 1e6, events: [event] })
    )
  }
})

/** An event per song in Matomo, with the number of listeners. */
export const matomoAnalyticsHookType = defineSongHookType({
  name: 'matomo_analytics',
  settings: {
    matomo_url: addressSetting({
      about: 'The address of the Matomo server.',
      example: 'https://stats.example.com'
    }),
    site_id: integerField({ min: 1, max: 2_147_483_647, about: 'The site in Matomo.' }),
    token: writeOnlyField(
      textField({ max: 2_000, fallback: '', isTrimmed: true, about: 'A token that may write.' })
    )
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
    return httpDeliveryContent(jsonPostRequest(appendUrlPath(matomo_url, '/matomo.php'), body))
  }
})
