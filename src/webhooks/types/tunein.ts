import { songChanges } from '../allowed-triggers.ts'
import { nothing, queryGet, requests } from '../deliveries/sending.ts'
import { playedSong, silentText } from '../format/now-playing-body.ts'
import { credential, identifier } from '../settings.ts'
import { hookType } from './hook-type.ts'

/** The song in TuneIn's directory (AIR API). */
export const tunein = hookType({
  name: 'tunein',
  title: 'TuneIn',
  triggers: songChanges,
  settings: {
    station_id: identifier('The station at TuneIn.', 's123456'),
    partner_id: identifier('The partner id.'),
    partner_key: credential('The partner key.')
  },
  send({ nowPlaying }, { station_id: id, partner_id: partnerId, partner_key: partnerKey }) {
    const song = playedSong(nowPlaying)
    if (song === null) return nothing(silentText)
    const { title, artist, album } = song
    return requests(
      queryGet('https://air.radiotime.com/Playing.ashx', { partnerId, partnerKey, id, title, artist, album })
    )
  }
})
