import { songChanges } from '../allowed-triggers.ts'
import { nothing, queryGet, requests } from '../deliveries/sending.ts'
import { playedSong, silentText } from '../format/now-playing-body.ts'
import { credential, identifier } from '../settings.ts'
import { hookType } from './hook-type.ts'

/** The song in the directory radio.de. */
export const radiode = hookType({
  name: 'radiode',
  title: 'radio.de',
  triggers: songChanges,
  settings: {
    broadcastsubdomain: identifier('The station at radio.de.', 'myradio'),
    apikey: credential('The API key.')
  },
  send({ nowPlaying }, { broadcastsubdomain: broadcast, apikey }) {
    const song = playedSong(nowPlaying)
    if (song === null) return nothing(silentText)
    const { title, artist, album } = song
    return requests(
      queryGet('https://api.radio.de/info/v2/pushmetadata/playingsong', {
        broadcast,
        apikey,
        title,
        artist,
        album
      })
    )
  }
})
