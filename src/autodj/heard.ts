/** When each of many keys was heard last. Plays of a week are looked through for every choice: this boxes no numbers. */
export interface Heard {
  /** Notes that a key was or will be heard at a time, Unix milliseconds. */
  note(key: number, atMs: number): void
  /** When it is heard last; -Infinity if it is not. */
  last(key: number): number
}

/** For so many keys at most. A key is a whole number of up to 52 bits. */
export function openHeard(most: number): Heard {
  // Never nearly full, so that a place is found soon.
  const bits = Math.max(9, Math.ceil(Math.log2(1.6 * (most + 1))))
  const mask = 2 ** bits - 1
  // Keys are one more than they are: 0 is a free place.
  const keys = new Float64Array(mask + 1)
  const times = new Float64Array(mask + 1)
  const placeOf = (held: number) => {
    let place = Math.imul((held | 0) ^ ((held / 4_294_967_296) | 0), 0x9e3779b1) >>> (32 - bits)
    for (;;) {
      const there = keys[place]
      if (there === held || there === 0) return place
      place = (place + 1) & mask
    }
  }
  return {
    note: (key, atMs) => {
      const place = placeOf(key + 1)
      const isNew = keys[place] === 0
      keys[place] = key + 1
      times[place] = isNew ? atMs : Math.max(times[place] ?? 0, atMs)
    },
    last: key => {
      const place = placeOf(key + 1)
      return keys[place] === 0 ? -Infinity : (times[place] ?? -Infinity)
    }
  }
}
