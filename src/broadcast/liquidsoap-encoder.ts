import { liquidsoapText } from './liquidsoap-text.ts'

/** A stream that the AutoDJ plays to; kbit/s, which flac ignores. */
export interface EncodedMount {
  readonly path: string
  readonly format: 'mp3' | 'ogg' | 'aac' | 'opus' | 'flac'
  readonly bitrate: number
  /** Whether public directories list it. */
  readonly isListed: boolean
}

/** Those of MPEG 1, which are all that 44.1 kHz can have. */
const mp3Bitrates = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]

const encoders = {
  mp3: bitrate => `%mp3(bitrate=${nearest(mp3Bitrates, bitrate)})`,
  // Below, libvorbis has no mode for 44.1 kHz in stereo, and the encoder ends the program.
  ogg: bitrate => `%vorbis.cbr(bitrate=${within(bitrate, 48, 500)})`,
  opus: bitrate => `%opus(bitrate=${within(bitrate, 6, 510)})`,
  flac: () => '%ogg(%flac)',
  aac: bitrate => `%fdkaac(bitrate=${within(bitrate, 16, 320)})`
} satisfies Record<EncodedMount['format'], (bitrate: number) => string>

/** The lines that send the sound to a mount, each bitrate being the nearest that its encoder takes. */
export function renderMount({ path, format, bitrate, isListed }: EncodedMount): string {
  const first = `mount=${liquidsoapText(path)}, is_public=${isListed}`
  const encoder = encoders[format](bitrate)
  if (format !== 'aac') return `send_to(${first}, ${encoder})`
  const send = (each: string) => `send_to(${first}, content_type="audio/aac", ${each})`
  return [
    '# Debian has no fdkaac; the encoder of FFmpeg is there everywhere.',
    '%ifencoder %fdkaac',
    send(encoder),
    '%else',
    send(`%ffmpeg(format="adts", %audio(codec="aac", b="${within(bitrate, 16, 320)}k"))`),
    '%endif'
  ].join('\n')
}

const within = (bitrate: number, least: number, most: number) => Math.min(Math.max(bitrate, least), most)

function nearest(choices: readonly number[], wanted: number): number {
  return choices.reduce((best, each) => (Math.abs(each - wanted) < Math.abs(best - wanted) ? each : best))
}
