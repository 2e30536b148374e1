import { readFileSync } from 'node:fs'

import { parsedUrl } from '../../outbound/networks.ts'
import { programFile } from '../../runtime/program-files.ts'

/** What the script of a station is made of. No secret: those are in its environment. */
export interface ScriptStation {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly url: string
  readonly crossfadeType: 'normal' | 'smart' | 'none'
  /** Seconds. */
  readonly crossfade: number
  /** Where its streaming server answers; empty where that is not known. */
  readonly frontendUrl: string
  readonly mounts: readonly EncodedMount[]
}

const template = readFileSync(programFile('assets/radio/station.liq'), 'utf8')

/**
 * The Liquidsoap script that plays a station, which calls Cuewire at `baseUrl` unless its environment names
 * another address.
 */
export function renderScript(station: ScriptStation, baseUrl: string): string {
  const icecast = icecastOf(station.frontendUrl)
  const settings = [
    ['station_name', liquidsoapText(station.name)],
    ['station_description', liquidsoapText(station.description)],
    ['station_url', liquidsoapText(station.url)],
    ['api_path', liquidsoapText(`/api/internal/${station.id}/liquidsoap`)],
    ['default_url', liquidsoapText(baseUrl)],
    ['default_icecast_host', liquidsoapText(icecast.host)],
    ['default_icecast_port', liquidsoapText(icecast.port)],
    ['crossfade_type', liquidsoapText(station.crossfadeType)],
    ['crossfade_seconds', liquidsoapFloat(station.crossfade)]
  ].map(([name, value]) => `${name} = ${value}`)
  const mounts = station.mounts.map(renderMount)
  // A script without an output ends at once; streamers and reports need none.
  const outputs = mounts.length === 0 ? ['output.dummy(titled)'] : mounts
  return fill(fill(template, 'The station', settings), 'The mounts', outputs)
}

function icecastOf(address: string): { host: string; port: string } {
  const url = parsedUrl(address)
  if (!url) return { host: '127.0.0.1', port: '8000' }
  const { hostname, port } = url
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port || '8000' }
}

/** Puts lines in the place of those between `# ---- <title> ----` and the ruler below. */
function fill(text: string, title: string, lines: readonly string[]): string {
  const opening = `# ---- ${title} ----\n`
  const start = text.indexOf(opening)
  const end = text.indexOf('\n# ----\n', start)
  if (start < 0 || end < 0) throw new Error(`the template of the script has no part "${title}"`)
  return text.slice(0, start + opening.length) + lines.join('\n') + text.slice(end)
}

/** A stream that the AutoDJ plays to; kbit/s, which flac ignores. */
interface EncodedMount {
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

/**
 * A text as Liquidsoap reads it, on one line: what it holds never becomes code. Liquidsoap 2.1 puts values in
 * place of `#{...}` even where the `#` is written as an escape, so the two are kept apart.
 */
export function liquidsoapText(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Surrogate}]+/gu, ' ')
  const literals = line.split(/(?<=#)(?=\{)/).map(part => `"${part.replace(/["\\]/g, '\\$&')}"`)
  return literals.length === 1 ? literals.join('') : `(${literals.join(' ^ ')})`
}

/** A number that is at least zero, as Liquidsoap reads it where it wants one with a fraction. */
export function liquidsoapFloat(value: number): string {
  return value.toFixed(3).replace(/0+$/, '')
}
