import { expect, test } from 'vitest'

import { aPlayingStation, bodyOf, nowPlayingOf, sendingOf } from '../../../support/hook-events.ts'

const long = { nowPlaying: nowPlayingOf(aPlayingStation({ title: 'x'.repeat(255) })) }

test('Google Analytics gets one event with the number of listeners', () => {
  const config = { api_secret: 'w&rd', measurement_id: 'G-1' }
  const body = {
    client_id: 'cuewire.1',
    timestamp_micros: 1_783_468_800_000_000,
    events: [
      {
        name: 'song_changed',
        params: {
          song_title: 'Paper Lanterns',
          song_artist: 'Nils Okada',
          song_album: 'Low Water',
          station_name: 'Harbour FM',
          listeners: 6,
          session_id: '1783468800',
          engagement_time_msec: 1
        }
      }
    ]
  }
  expect(sendingOf('google_analytics_v4', config)).toEqual({
    kind: 'requests',
    requests: [
      {
        method: 'POST',
        url: 'https://www.google-analytics.com/mp/collect?api_secret=w%26rd&measurement_id=G-1',
        redactedUrl: 'https://www.google-analytics.com/mp/collect',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body)
      }
    ]
  })
  const { events } = bodyOf(sendingOf('google_analytics_v4', config, { ...long, happenedAt: 1_783_500_000 }))
  expect(events[0].params).toMatchObject({ song_title: `${'x'.repeat(99)}…`, session_id: '1783468800' })
})

test('Matomo gets one event with the number of listeners, and its time if there is a token', () => {
  const config = { matomo_url: 'https://stats.example/matomo/', site_id: 3 }
  const event =
    '?idsite=3&rec=1&url=https%3A%2F%2Fradio.example.com%2Fpublic%2Fharbour_fm&e_c=Harbour%20FM' +
    '&e_a=song_changed&e_n=Nils%20Okada%20-%20Paper%20Lanterns&e_v=6'
  const url = 'https://stats.example/matomo/matomo.php'
  const headers = { 'content-type': 'application/json' }
  const requestOf = (body: object) => ({
    kind: 'requests',
    requests: [{ method: 'POST', url, redactedUrl: url, headers, body: JSON.stringify(body) }]
  })
  expect(sendingOf('matomo_analytics', config)).toEqual(requestOf({ requests: [event] }))
  expect(sendingOf('matomo_analytics', { ...config, token: 'word' })).toEqual(
    requestOf({ requests: [`${event}&cdt=1783468800`], token_auth: 'word' })
  )
})
