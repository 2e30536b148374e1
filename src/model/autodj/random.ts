/** Returns a number from 0 (inclusive) to 1 (exclusive). */
export type RandomSource = () => number

/** A generator that returns the same numbers for the same seed and slot. The mixing is that of SplitMix32. */
export function createSeededRandom(seed: number, slot: number): RandomSource {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(slot, 0x85ebca6b)) >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    return mixBits(state) / 4_294_967_296
  }
}

/** The sort key of a track in a shuffled order, as 32 bits. */
export function shuffleKey(seed: number, orderSeed: number, trackId: number): number {
  const low = mixBits((Math.imul(orderSeed, 0x9e3779b1) ^ seed) >>> 0)
  return mixBits(
    (low + Math.imul(trackId, 0x85ebca6b) + Math.imul(Math.floor(trackId / 4_294_967_296), 0xc2b2ae35)) >>> 0
  )
}

function mixBits(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x21f0aaad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97)
  return (bits ^ (bits >>> 15)) >>> 0
}
