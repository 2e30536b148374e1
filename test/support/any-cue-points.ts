import * as fc from 'fast-check'

/** Cue points of a song of up to a minute; many contradict each other. */
export const anyCuePoints = () => {
  const ms = (min: number) =>
    fc.option(fc.oneof(fc.integer({ min, max: 20 }), fc.integer({ min, max: 60_000 })), { nil: null })
  return fc.record({
    cueInMs: ms(0),
    cueOutMs: ms(1),
    startNextMs: ms(0),
    fadeInMs: ms(0),
    fadeOutMs: ms(0),
    amplifyDb: fc.option(
      fc.integer({ min: -6_000, max: 6_000 }).map(value => value / 100),
      { nil: null }
    )
  })
}

/** 0: unknown. */
export const anyDurationMs = () =>
  fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 60_000 }))
