import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  aPlayingStation,
  bodyOf,
  nowPlayingOf,
  sendingOf,
  hostileText
} from '../../../support/hook-events.ts'

const song = { title: 'Night & Day?', artist: 'Ella é', album: '100% +' }
const playing = { nowPlaying: nowPlayingOf(aPlayingStation(song)) }
const named = 'title=Night%20%26%20Day%3F&artist=Ella%20%C3%A9'
const album = 'album=100%25%20%2B'

const cases = [
  {
    type: 'tunein',
    config: { station_id: 's1', partner_id: 'p1', partner_key: 'wo+rd' },
    url: `https://air.radiotime.com/Playing.ashx?partnerId=p1&partnerKey=wo%2Brd&id=s1&${named}&${album}`
  },
  {
    type: 'radiode',
    config: { broadcastsubdomain: 'radio', apikey: 'word' },
    url: `https://api.radio.de/info/v2/pushmetadata/playingsong?broadcast=radio&apikey=word&${named}&${album}`
  },
  {
    type: 'getmeradio',
    config: { token: 'word', station_id: '7' },
    url: `https://services.getmeradio.com/api/song_update/?token=word&station_id=7&${named}`
  }
]

describe.for(cases)('$type', ({ type, config, url }) => {
  test('gets a GET', () => {
    expect(sendingOf(type, config, playing)).toEqual({
      kind: 'requests',
      requests: [{ method: 'GET', url, redactedUrl: url.replace(/\?.*/, ''), headers: {} }]
    })
  })

  test('gets any title unchanged', () => {
    fc.assert(
      fc.property(hostileText, title => {
        const sending = sendingOf(type, config, { nowPlaying: nowPlayingOf(aPlayingStation({ title })) })
        const [request] = sending.kind === 'requests' ? sending.requests : []
        const read = new URL(request?.url ?? '')
        expect([read.origin + read.pathname, read.searchParams.get('title')]).toEqual([
          url.replace(/\?.*/, ''),
          title.replace(/\p{Surrogate}/gu, '\uFFFD')
        ])
        expect([...read.searchParams.keys()]).toEqual([...new URL(url).searchParams.keys()])
      })
    )
  })
})

describe('radioreg', () => {
  const config = { webhookurl: 'https://reg.example/hook?station=1', apikey: 'word' }

  test('gets the song and the next one', () => {
    const body = {
      title: 'Night & Day?',
      artist: 'Ella é',
      nextTitle: 'Night Ferry',
      nextArtist: 'The Low Signals',
      songDuration: 215,
      songStartedAt: 1_783_468_800
    }
    expect(sendingOf('radioreg', config, playing)).toEqual({
      kind: 'requests',
      requests: [
        {
          method: 'POST',
          url: config.webhookurl,
          redactedUrl: 'https://reg.example/hook',
          headers: { 'content-type': 'application/json', 'x-api-key': 'word' },
          body: JSON.stringify(body)
        }
      ]
    })
  })

  test('gets covers if enabled, and no next song if there is none', () => {
    const nowPlaying = nowPlayingOf({ ...aPlayingStation(), next: null })
    const art = 'https://radio.example.com/api/station/harbour_fm/art/5f1c0a9e2b7d.jpg'
    expect(bodyOf(sendingOf('radioreg', { ...config, send_cover_art: true }))).toMatchObject({
      art,
      nextArt: 'https://radio.example.com/static/img/generic_song.jpg'
    })
    expect(bodyOf(sendingOf('radioreg', { ...config, send_cover_art: true }, { nowPlaying }))).toMatchObject({
      nextTitle: '',
      nextArtist: '',
      art,
      nextArt: ''
    })
  })
})
