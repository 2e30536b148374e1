/** The slot of a hash tag in Redis Cluster: its CRC-16 (XMODEM) modulo 16,384. */
export function hashSlot(tag: string): number {
  let crc = 0
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : crc << 1
  }
  return crc % slotCount
}

export const slotCount = 16_384
