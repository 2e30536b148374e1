/**
 * Short melodies for stations without music: deterministic sequences of a pentatonic scale over a bass note,
 * as WAV files with title and artist.
 */
const artist = 'The Small Machines'
const titles = [
  'Ferry at Dawn',
  'Paper Kites',
  'Tin Roof Rain',
  'Slow Lighthouse',
  'Blue Bicycle',
  'Copper Kettle',
  'Night Bus Home',
  'Seven Lanterns',
  'Quiet Harbour',
  'Last Orange'
]

const sampleRate = 22_050
const pentatonic = [0, 2, 4, 7, 9]
const noteSeconds = 0.4

/** Ten melodies of about `seconds` seconds. `bytes` renders the file. */
export function melodies(seconds = 28) {
  return titles.map((title, index) => {
    const length = seconds + (seconds > 10 ? (index % 4) * 2 : 0)
    const name = `${title.toLowerCase().replaceAll(' ', '-')}.wav`
    return { title, artist, name, seconds: length, bytes: () => wav(compose(index, length), title) }
  })
}

/** Returns samples from -1 to 1. */
function compose(index, seconds) {
  const random = openRandom(index + 1)
  const root = 196 * 2 ** (((index * 7) % 12) / 12)
  const samples = new Float32Array(seconds * sampleRate)
  let step = 5
  const beats = Math.ceil((seconds - 1) / noteSeconds)
  for (let beat = 0; beat < beats; beat += 1) {
    const at = beat * noteSeconds
    const isLast = beat === beats - 1
    step = Math.min(Math.max(step + Math.round((random() - 0.5) * 4), 0), 9)
    const height = pentatonic[step % 5] + 12 * Math.floor(step / 5)
    const isRest = random() >= 0.85
    // The last note rings until the end: a silent end would be heard while no other song is available.
    if (isLast || !isRest) ring(samples, at, root * 2 ** (height / 12), 0.28, isLast ? seconds - at : 0.9)
    if (beat % 4 === 0) ring(samples, at, root / (beat % 8 === 0 ? 2 : 4 / 3), 0.2, 1.8)
  }
  return samples
}

/** Adds a decaying tone with two overtones. */
function ring(samples, atSeconds, hertz, loudness, seconds) {
  const start = Math.round(atSeconds * sampleRate)
  const count = Math.min(Math.round(seconds * sampleRate), samples.length - start)
  for (let index = 0; index < count; index += 1) {
    const time = index / sampleRate
    const swell = Math.min(time / 0.01, 1) * Math.exp(-3.5 * time) * Math.min((count - index) / 400, 1)
    const phase = 2 * Math.PI * hertz * time
    const tone = Math.sin(phase) + 0.3 * Math.sin(2 * phase) + 0.1 * Math.sin(3 * phase)
    samples[start + index] += loudness * swell * tone
  }
}

/** A seeded linear congruential generator (Numerical Recipes) of numbers from 0 to 1. */
function openRandom(seed) {
  let state = seed * 7919
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Renders a RIFF file with 16-bit mono samples. */
function wav(samples, title) {
  const data = Buffer.alloc(samples.length * 2)
  for (const [index, sample] of samples.entries())
    data.writeInt16LE(Math.round(Math.min(Math.max(sample, -1), 1) * 32_000), index * 2)
  const format = Buffer.alloc(16)
  format.writeUInt16LE(1, 0)
  format.writeUInt16LE(1, 2)
  format.writeUInt32LE(sampleRate, 4)
  format.writeUInt32LE(sampleRate * 2, 8)
  format.writeUInt16LE(2, 12)
  format.writeUInt16LE(16, 14)
  const info = Buffer.concat([
    Buffer.from('INFO'),
    chunk('INAM', Buffer.from(title)),
    chunk('IART', Buffer.from(artist))
  ])
  const parts = [Buffer.from('WAVE'), chunk('fmt ', format), chunk('LIST', info), chunk('data', data)]
  return chunk('RIFF', Buffer.concat(parts))
}

function chunk(name, body) {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(body.length)
  return Buffer.concat([Buffer.from(name), size, body, Buffer.alloc(body.length % 2)])
}
