/** The kinds of pictures that are kept, and given to browsers. */
export const imageTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const

export type ImageType = (typeof imageTypes)[number]

/** What a picture is by its first bytes, whatever anybody says of it; null: none of these. */
export function imageType(bytes: Uint8Array): ImageType | null {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (start.startsWith('\xFF\xD8\xFF')) return 'image/jpeg'
  if (start.startsWith('\x89PNG\r\n\x1A\n')) return 'image/png'
  if (/^RIFF[^]{4}WEBP/.test(start)) return 'image/webp'
  if (/^GIF8[79]a/.test(start)) return 'image/gif'
  return null
}
