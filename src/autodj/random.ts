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
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4_294_967_296
  }
}
