import { flag } from '../../fields/field.ts'
import { songChanges } from '../allowed-triggers.ts'
import { jsonPost, nothing, requests } from '../deliveries/sending.ts'
import { playedSong, silentText } from '../format/now-playing-body.ts'
import { address, headerCredential } from '../settings.ts'
import { hookType } from './hook-type.ts'

/** The song and the next one in the directory RadioReg. */
export const radioreg = hookType({
  name: 'radioreg',
  title: 'RadioReg',
  triggers: songChanges,
  settings: {
    webhookurl: address({ about: 'The address RadioReg gave for the station.' }),
    apikey: headerCredential('The API key.'),
    send_cover_art: flag({ fallback: false, about: 'Whether the address of the cover is sent along.' })
  },
  urls: ['webhookurl'],
  send({ nowPlaying }, { webhookurl, apikey, send_cover_art }) {
    const song = playedSong(nowPlaying)
    if (song === null) return nothing(silentText)
    const { now_playing: playing, playing_next } = nowPlaying
    const next = playing_next?.song
    const body = {
      title: song.title,
      artist: song.artist,
      nextTitle: next?.title ?? '',
      nextArtist: next?.artist ?? '',
      songDuration: playing.duration,
      songStartedAt: playing.played_at,
      ...(send_cover_art ? { art: song.art, nextArt: next?.art ?? '' } : {})
    }
    return requests(jsonPost(webhookurl, body, { 'x-api-key': apikey }))
  }
})
