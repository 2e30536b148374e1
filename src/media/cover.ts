import { createHash } from 'node:crypto'

import type { IPicture } from 'music-metadata'

/** A picture that goes with a song: its key is the SHA-256 of its bytes, in hex. */
export interface Cover {
  hash: string
  contentType: 'image/jpeg' | 'image/png' | 'image/webp' | 'image/gif'
  bytes: Buffer
}

const maxCoverBytes = 5 * 1024 * 1024

/**
 * Chooses the front cover, else the first picture. What a tag says of the format is not believed: only bytes that
 * begin like JPEG, PNG, WebP or GIF are served to browsers later. Null when nothing fits.
 */
export function chooseCover(pictures: IPicture[]): Cover | null {
  const fronts = pictures.filter(picture => picture.type === 'Cover (front)')
  for (const { data } of [...fronts, ...pictures]) {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    const contentType = imageType(bytes)
    if (contentType === null || bytes.length > maxCoverBytes) continue
    // A copy: the picture may be a small part of a large buffer that would be kept alive by it.
    return { hash: createHash('sha256').update(bytes).digest('hex'), contentType, bytes: Buffer.from(bytes) }
  }
  return null
}

function imageType(bytes: Buffer): Cover['contentType'] | null {
  const start = bytes.toString('latin1', 0, 12)
  if (start.startsWith('\xFF\xD8\xFF')) return 'image/jpeg'
  if (start.startsWith('\x89PNG\r\n\x1A\n')) return 'image/png'
  if (/^RIFF[^]{4}WEBP/.test(start)) return 'image/webp'
  if (/^GIF8[79]a/.test(start)) return 'image/gif'
  return null
}
