import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { indexPlays, transferPlayIndex } from '../../../../src/model/autodj/duplicates.ts'
import type { PlayOrRow } from '../../../../src/model/autodj/library.ts'
import { aPlay, aSong } from '../../../support/autodj/library.ts'

const keys = fc.nat(5)
const playSpecs = fc.array(fc.record({ song: keys, title: keys, artist: keys, at: fc.nat(1_000) }), {
  maxLength: 20
})

const playOf = ({
  song,
  title,
  artist,
  at
}: {
  song: number
  title: number
  artist: number
  at: number
}): PlayOrRow => aPlay(song, at, { song: aSong(song, { title, artists: [artist] }) })

function latest(plays: readonly PlayOrRow[], isMeant: (play: PlayOrRow) => boolean): number | undefined {
  const times = plays.filter(isMeant).map(play => play.startsAtMs)
  return times.length === 0 ? undefined : Math.max(...times)
}

test('the index has the last play of every key, including plays added later', () => {
  const property = fc.property(playSpecs, playSpecs, (first, later) => {
    const plays = first.map(playOf)
    indexPlays(plays)
    plays.push(...later.map(playOf))
    const heard = indexPlays(plays)
    for (let key = 0; key <= 5; key++) {
      expect(heard.songs.get(key)).toBe(latest(plays, ({ song }) => song.song === key))
      expect(heard.titles.get(key)).toBe(latest(plays, ({ song }) => key !== 0 && song.title === key))
      expect(heard.artists.get(key)).toBe(latest(plays, ({ song }) => song.artists.includes(key)))
    }
  })
  fc.assert(property)
})

test('a transferred index contains the rest of the list', () => {
  const property = fc.property(playSpecs, fc.nat(20), (specs, cut) => {
    const plays = specs.toSorted((a, b) => a.at - b.at).map(playOf)
    indexPlays(plays)
    const rest = plays.slice(cut)
    transferPlayIndex(plays, rest)
    const heard = indexPlays(rest)
    for (const { song, startsAtMs } of rest)
      expect(heard.songs.get(song.song)).toBeGreaterThanOrEqual(startsAtMs)
  })
  fc.assert(property)
})
