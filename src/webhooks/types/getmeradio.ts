import { songChanges } from '../allowed-triggers.ts'
import { nothing, queryGet, requests } from '../deliveries/sending.ts'
import { playedSong, silentText } from '../format/now-playing-body.ts'
import { credential, identifier } from '../settings.ts'
import { hookType } from './hook-type.ts'

/** The song in the directory GetMeRadio. */
export const getmeradio = hookType({
  name: 'getmeradio',
  title: 'GetMeRadio',
  triggers: songChanges,
  settings: {
    token: credential('The API token.'),
    station_id: identifier('The station at GetMeRadio.')
  },
  send({ nowPlaying }, { token, station_id }) {
    const song = playedSong(nowPlaying)
    if (song === null) return nothing(silentText)
    const { title, artist } = song
    return requests(
      queryGet('https://services.getmeradio.com/api/song_update/', { token, station_id, title, artist })
    )
  }
})
