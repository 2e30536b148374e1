import { flag } from '../../model/fields/field.ts'
import { songHookType } from './hook-type.ts'
import { jsonPost, queryGet, httpContent } from './sending.ts'
import { address, credential, headerCredential, identifier } from './settings.ts'

/** The song in TuneIn's directory (AIR API). */
export const tunein = songHookType({
  name: 'tunein',
  settings: {
    station_id: identifier('The station at TuneIn.', 's123456'),
    partner_id: identifier('The partner id.'),
    partner_key: credential('The partner key.')
  },
  send: ({ title, artist, album }, { station_id: id, partner_id: partnerId, partner_key: partnerKey }) =>
    httpContent(
      queryGet('https://air.radiotime.com/Playing.ashx', { partnerId, partnerKey, id, title, artist, album })
    )
})

/** The song in the directory radio.de. */
export const radiode = songHookType({
  name: 'radiode',
  settings: {
    broadcastsubdomain: identifier('The station at radio.de.', 'myradio'),
    apikey: credential('The API key.')
  },
  send({ title, artist, album }, { broadcastsubdomain: broadcast, apikey }) {
    const parameters = { broadcast, apikey, title, artist, album }
    return httpContent(queryGet('https://api.radio.de/info/v2/pushmetadata/playingsong', parameters))
  }
})

/** The song and the next one in the directory RadioReg. */
export const radioreg = songHookType({
  name: 'radioreg',
  settings: {
    webhookurl: address({ about: 'The address RadioReg gave for the station.' }),
    apikey: headerCredential('The API key.'),
    send_cover_art: flag({ fallback: false, about: 'Whether the URLs of covers are sent as well.' })
  },
  urls: ['webhookurl'],
  send(song, { webhookurl, apikey, send_cover_art }, { nowPlaying: { now_playing, playing_next } }) {
    const next = playing_next?.song
    const body = {
      title: song.title,
      artist: song.artist,
      nextTitle: next?.title ?? '',
      nextArtist: next?.artist ?? '',
      songDuration: now_playing.duration,
      songStartedAt: now_playing.played_at,
      ...(send_cover_art ? { art: song.art, nextArt: next?.art ?? '' } : {})
    }
    return httpContent(jsonPost(webhookurl, body, { 'x-api-key': apikey }))
  }
})

/** The song in the directory GetMeRadio. */
export const getmeradio = songHookType({
  name: 'getmeradio',
  settings: {
    token: credential('The API token.'),
    station_id: identifier('The station at GetMeRadio.')
  },
  send: ({ title, artist }, { token, station_id }) =>
    httpContent(
      queryGet('https://services.getmeradio.com/api/song_update/', { token, station_id, title, artist })
    )
})
