import { describe, expect, test } from 'vitest'

import { alike, heardOf, onDays } from '../../../support/autodj/days.ts'

describe('whatever happens to a station', () => {
  test('a sequential order is kept', () => {
    onDays({ kind: alike({ order: 'sequential' }), without: ['refuse'] }, station => {
      for (const playlist of station.library.playlists) {
        const { id, options, source, tracks } = playlist
        if (options.has('loop_once') || options.has('merge') || source === 'stream') continue
        const places = heardOf(station, playlist).map(({ trackId }) => (trackId ?? 0) - id * 100)
        expect(places).toEqual(places.map((_, index) => ((places[0] ?? 0) + index) % tracks.ids.length))
      }
    })
  })

  test('no shuffled track plays twice in a pass, or two plays more than another', () => {
    onDays({ kind: alike({ order: 'shuffle' }), without: ['refuse'] }, station => {
      for (const playlist of station.library.playlists) {
        const { options, source, tracks } = playlist
        if (options.has('loop_once') || options.has('merge') || source === 'stream') continue
        const plays = heardOf(station, playlist)
        const inPasses = plays.map(({ trackId, pass }) => `${trackId} in ${pass}`)
        expect(inPasses).toEqual([...new Set(inPasses)])
        const counts = [...tracks.ids].map(id => plays.filter(({ trackId }) => trackId === id).length)
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2)
      }
    })
  })

  test('no track of a shuffled playlist is omitted from a pass', () => {
    onDays({ kind: alike({ order: 'shuffle' }), without: ['refuse'] }, station => {
      for (const playlist of station.library.playlists) {
        const { options, source, tracks } = playlist
        if (options.has('loop_once') || options.has('merge') || source === 'stream') continue
        const plays = heardOf(station, playlist)
        const newest = plays.reduce((most, { pass }) => Math.max(most, pass), 0)
        for (let pass = 1; pass <= newest - 2; pass++) {
          const heard = plays.filter(play => play.pass === pass).map(({ trackId }) => trackId)
          expect(new Set(heard)).toEqual(new Set(tracks.ids))
        }
      }
    })
  })

  test('a batch plays without gaps, except for interrupts', () => {
    onDays(
      { kind: alike({ options: ['merge'] }), without: ['refuse', 'withdraw', 'add', 'send'] },
      station => {
        const { heard } = station
        for (const [index, { batch }] of heard.entries()) {
          const rest = heard.slice(index + 1).findIndex(each => batch !== null && each.batch === batch)
          expect(
            heard.slice(index + 1, index + 1 + Math.max(0, rest)).filter(each => !each.isInterrupt)
          ).toEqual([])
        }
      }
    )
  })
})
