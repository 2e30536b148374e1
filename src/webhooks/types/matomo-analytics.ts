import { hidden, integer, text } from '../../fields/field.ts'
import { songChanges } from '../allowed-triggers.ts'
import { addressBelow, jsonPost, nothing, queryOf, requests } from '../deliveries/sending.ts'
import { playedSong, silentText } from '../format/now-playing-body.ts'
import { address } from '../settings.ts'
import { hookType } from './hook-type.ts'

/** An event per song in Matomo, with the number of listeners. */
export const matomoAnalytics = hookType({
  name: 'matomo_analytics',
  title: 'Matomo',
  triggers: songChanges,
  settings: {
    matomo_url: address({ about: 'The address of the Matomo server.', example: 'https://stats.example.com' }),
    site_id: integer({ min: 1, max: 2_147_483_647, about: 'The site in Matomo.' }),
    token: hidden(text({ max: 2_000, fallback: '', isTrimmed: true, about: 'A token that may write.' }))
  },
  urls: ['matomo_url'],
  send({ happenedAt, nowPlaying }, { matomo_url, site_id, token }) {
    const song = playedSong(nowPlaying)
    if (song === null) return nothing(silentText)
    const { station, listeners } = nowPlaying
    const event = queryOf({
      idsite: String(site_id),
      rec: '1',
      url: station.public_player_url,
      e_c: station.name,
      e_a: 'song_changed',
      e_n: song.text,
      e_v: String(listeners.current),
      // Only who has a token may say when it was.
      ...(token === '' ? {} : { cdt: String(happenedAt) })
    })
    const body = { requests: [`?${event}`], ...(token === '' ? {} : { token_auth: token }) }
    return requests(jsonPost(addressBelow(matomo_url, '/matomo.php'), body))
  }
})
