/** A source of numbers in 0 (inclusive) to 1 (exclusive). */
export type Random = () => number

/**
 * A generator for one slot: the same seed and slot always give the same numbers, so a step that is computed twice
 * chooses the same. The mixing is that of SplitMix32.
 */
export function randomOf(seed: number, slot: number): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(slot, 0x85ebca6b)) >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    return mixed(state) / 4_294_967_296
  }
}

/** A place in a shuffled order: 32 bits of a hash of the seed, the run and the track. */
export function shuffledPlace(seed: number, run: number, trackId: number): number {
  const low = mixed((Math.imul(run, 0x9e3779b1) ^ seed) >>> 0)
  return mixed(
    (low + Math.imul(trackId, 0x85ebca6b) + Math.imul(Math.floor(trackId / 4_294_967_296), 0xc2b2ae35)) >>> 0
  )
}

function mixed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x21f0aaad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97)
  return (bits ^ (bits >>> 15)) >>> 0
}
