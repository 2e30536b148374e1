import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { HeardPlay } from '../../../src/autodj/library.ts'
import { transferIndex, heardIn } from '../../../src/autodj/recent.ts'
import { aPlay, aSong } from '../../support/autodj/library.ts'

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
}): HeardPlay => aPlay(song, at, { song: aSong(song, { title, artists: [artist] }) })

function latest(plays: readonly HeardPlay[], isMeant: (play: HeardPlay) => boolean): number | undefined {
  const times = plays.filter(isMeant).map(play => play.startsAtMs)
  return times.length === 0 ? undefined : Math.max(...times)
}

test('what was heard last is known of every key, also of plays that are added later', () => {
  const property = fc.property(playSpecs, playSpecs, (first, later) => {
    const plays = first.map(playOf)
    heardIn(plays)
    plays.push(...later.map(playOf))
    const heard = heardIn(plays)
    for (let key = 0; key <= 5; key++) {
      expect(heard.songs.get(key)).toBe(latest(plays, ({ song }) => song.song === key))
      expect(heard.titles.get(key)).toBe(latest(plays, ({ song }) => key !== 0 && song.title === key))
      expect(heard.artists.get(key)).toBe(latest(plays, ({ song }) => song.artists.includes(key)))
    }
  })
  fc.assert(property)
})

test('the end of a list knows at least what is in it', () => {
  const property = fc.property(playSpecs, fc.nat(20), (specs, cut) => {
    const plays = specs.toSorted((a, b) => a.at - b.at).map(playOf)
    heardIn(plays)
    const rest = plays.slice(cut)
    transferIndex(plays, rest)
    const heard = heardIn(rest)
    for (const { song, startsAtMs } of rest)
      expect(heard.songs.get(song.song)).toBeGreaterThanOrEqual(startsAtMs)
  })
  fc.assert(property)
})
