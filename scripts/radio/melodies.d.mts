export function melodies(seconds?: number): {
  title: string
  artist: string
  /** Of the file. */
  name: string
  seconds: number
  bytes: () => Buffer
}[]
