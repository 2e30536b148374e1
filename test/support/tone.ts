/** A WAV of 16 bits, 8 kHz mono: a tone of 100 Hz with the amplitude (0 to 1) of each second. */
export function toneWav(amplitudes: readonly number[]): Buffer {
  const sampleRate = 8_000
  const data = Buffer.alloc(amplitudes.length * sampleRate * 2)
  for (let at = 0; at < data.length / 2; at++) {
    const amplitude = amplitudes[Math.floor(at / sampleRate)] ?? 0
    data.writeInt16LE(
      Math.round(amplitude * 32_767 * Math.sin((2 * Math.PI * 100 * at) / sampleRate)),
      at * 2
    )
  }
  const header = Buffer.alloc(44)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(36 + data.length, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(sampleRate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(data.length, 40)
  return Buffer.concat([header, data])
}
