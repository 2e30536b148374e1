import { createHash } from 'node:crypto'

import type { IPicture } from 'music-metadata'

import { type ImageType, imageType } from '../songs/image-type.ts'

/** A picture that goes with a song: its key is the SHA-256 of its bytes, in hex. */
export interface Cover {
  hash: string
  contentType: ImageType
  bytes: Buffer
}

const maxCoverBytes = 5 * 1024 * 1024

/**
 * Chooses the front cover, else the first picture. What a tag says of the format is not believed: only bytes
 * that begin like JPEG, PNG, WebP or GIF are served to browsers later. Null when nothing fits.
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
