/** The supported types of pictures. */
export const imageTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const

export type ImageType = (typeof imageTypes)[number]

/** The type of a picture by its first bytes, or null. */
export function detectImageType(bytes: Uint8Array): ImageType | null {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (start.startsWith('\xFF\xD8\xFF')) return 'image/jpeg'
  if (start.startsWith('\x89PNG\r\n\x1A\n')) return 'image/png'
  if (/^RIFF[^]{4}WEBP/.test(start)) return 'image/webp'
  if (/^GIF8[79]a/.test(start)) return 'image/gif'
  return null
}
