/** A number that changes with a picture, in place of the time of its change, which is not stored; 0 without one. */
export const computeArtVersion = (hash: string | null): number =>
  hash === null ? 0 : Number.parseInt(hash.slice(0, 7), 16) + 1
