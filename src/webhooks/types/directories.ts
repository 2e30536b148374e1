import { flagField } from '../../model/fields/field.ts'
import { jsonPostRequest, queryGetRequest, httpDeliveryContent } from './delivery-content.ts'
import {
  addressSetting,
  credentialSetting,
  headerCredentialSetting,
  identifierSetting
} from './hook-settings.ts'
import { defineSongHookType } from './hook-type.ts'

/** The song in TuneIn's directory (AIR API). */
export const tuneinHookType = defineSongHookType({
  name: 'tunein',
  settings: {
    station_id: identifierSetting('The station at TuneIn.', 's123456'),
    partner_id: identifierSetting('The partner id.'),
    partner_key: credentialSetting('The partner key.')
  },
  send: ({ title, artist, album }, { station_id: id, partner_id: partnerId, partner_key: partnerKey }) =>
    httpDeliveryContent(
      queryGetRequest('https://air.radiotime.com/Playing.ashx', {
        partnerId,
        partnerKey,
        id,
        title,
        artist,
        album
      })
    )
})

/** The song in the directory radio.de. */
export const radiodeHookType = defineSongHookType({
  name: 'radiode',
  settings: {
    broadcastsubdomain: identifierSetting('The station at radio.de.', 'myradio'),
    apikey: credentialSetting('The API key.')
  },
  send({ title, artist, album }, { broadcastsubdomain: broadcast, apikey }) {
    const parameters = { broadcast, apikey, title, artist, album }
    return httpDeliveryContent(
      queryGetRequest('https://api.radio.de/info/v2/pushmetadata/playingsong', parameters)
    )
  }
})

/** The song and the next one in the directory RadioReg. */
export const radioregHookType = defineSongHookType({
  name: 'radioreg',
  settings: {
    webhookurl: addressSetting({ about: 'The address RadioReg gave for the station.' }),
    apikey: headerCredentialSetting('The API key.'),
    send_cover_art: flagField({ fallback: false, about: 'Whether the URLs of covers are sent as well.' })
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
    return httpDeliveryContent(jsonPostRequest(webhookurl, body, { 'x-api-key': apikey }))
  }
})

/** The song in the directory GetMeRadio. */
export const getmeradioHookType = defineSongHookType({
  name: 'getmeradio',
  settings: {
    token: credentialSetting('The API token.'),
    station_id: identifierSetting('The station at GetMeRadio.')
  },
  send: ({ title, artist }, { token, station_id }) =>
    httpDeliveryContent(
      queryGetRequest('https://services.getmeradio.com/api/song_update/', {
        token,
        station_id,
        title,
        artist
      })
    )
})
