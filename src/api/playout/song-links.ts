import { createHmac, timingSafeEqual } from 'node:crypto'

import type { Secrets } from '../../stores/secrets/secrets.ts'

/** A song that a link gives access to, without a key. */
export interface LinkedSong {
  readonly stationId: number
  readonly mediaId: number
  /** When the link expires, in Unix seconds. */
  readonly until: number
}

export type SongLinks = ReturnType<typeof openSongLinks>

/** Signs links to songs with a key that is derived from `SECRETS_KEY`: with another one, all links are invalid. */
export function openSongLinks(secrets: Pick<Secrets, 'deriveKey'>) {
  const key = secrets.deriveKey('song links')
  const mac = ({ stationId, mediaId, until }: LinkedSong) =>
    createHmac('sha256', key).update(`${stationId}:${mediaId}:${until}`).digest()
  return {
    sign: (song: LinkedSong): string => mac(song).toString('base64url'),
    /** Whether a signature is that of the song and its time. Does not check the time. */
    isSigned: (song: LinkedSong, signature: string): boolean => {
      const bytes = Buffer.from(signature, 'base64url')
      const expected = mac(song)
      return bytes.length === expected.length && timingSafeEqual(bytes, expected)
    }
  }
}
