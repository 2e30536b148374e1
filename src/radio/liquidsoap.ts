import { readFileSync } from 'node:fs'

import type { AutocueOptions, PlayoutSong } from '../engine/playouts/send-next-song.ts'
import { type CuePoints, fitCuePoints } from '../model/songs/cue-points.ts'
import { isWebUrl, parseUrl } from '../platform/outbound/networks.ts'
import { projectFileUrl } from '../platform/process/program-files.ts'

/** The settings of a station's script. The script reads secrets from its environment. */
export interface LiquidsoapStation {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly url: string
  /** The title of a streamer who has sent none. */
  readonly liveText: string
  readonly crossfadeType: 'normal' | 'smart' | 'none'
  /** Seconds. */
  readonly crossfade: number
  /** The address of its streaming server; empty if unknown. */
  readonly frontendUrl: string
  /** The file to loop while there is nothing else; empty: tones. */
  readonly fallbackFile: string
  readonly mounts: readonly EncodedMount[]
}

const script = readFileSync(projectFileUrl('assets/radio/station.liq'), 'utf8')
const standby = readFileSync(projectFileUrl('assets/radio/standby.liq'), 'utf8')

/** Renders the Liquidsoap script of a station, which calls Cuewire at `baseUrl` by default. */
export function renderLiquidsoapScript(station: LiquidsoapStation, baseUrl: string): string {
  const settings = [
    ...commonSettings(station),
    ['station_description', quoteLiquidsoapText(station.description)],
    ['station_url', quoteLiquidsoapText(station.url)],
    ['api_path', quoteLiquidsoapText(`/api/internal/${station.id}/liquidsoap`)],
    ['default_url', quoteLiquidsoapText(baseUrl)],
    ['crossfade_type', quoteLiquidsoapText(station.crossfadeType)],
    ['crossfade_seconds', formatLiquidsoapFloat(station.crossfade)],
    ['live_text', quoteLiquidsoapText(station.liveText)],
    ['fallback_path', quoteLiquidsoapText(station.fallbackFile)]
  ]
  return fillIn(script, settings, station.mounts)
}

/** Renders the script of its standby, to whose mounts Icecast moves listeners while the other script does not run. */
export const renderStandbyScript = (station: LiquidsoapStation): string =>
  fillIn(standby, commonSettings(station), station.mounts)

/** The settings of both scripts, by variable. */
function commonSettings({ name, frontendUrl }: LiquidsoapStation): string[][] {
  const icecast = parseUrl(frontendUrl)
  const host = icecast?.hostname.replace(/^\[|\]$/g, '') ?? '127.0.0.1'
  return [
    ['station_name', quoteLiquidsoapText(name)],
    ['default_icecast_host', quoteLiquidsoapText(host)],
    ['default_icecast_port', quoteLiquidsoapText(icecast?.port || '8000')]
  ]
}

function fillIn(template: string, settings: string[][], mounts: readonly EncodedMount[]): string {
  const lines = settings.map(([name, value]) => `${name} = ${value}`)
  // A script without outputs exits; streamers and reports need none.
  const outputs = mounts.length === 0 ? ['output.dummy(radio)'] : mounts.map(renderMountOutput)
  return fillSection(fillSection(template, 'The station', lines), 'The mounts', outputs)
}

/** Replaces the lines between `# ---- <title> ----` and the next `# ----`. */
function fillSection(text: string, title: string, lines: readonly string[]): string {
  const heading = `# ---- ${title} ----\n`
  const start = text.indexOf(heading)
  const end = text.indexOf('\n# ----\n', start)
  if (start < 0 || end < 0) throw new Error(`station.liq has no section "${title}"`)
  return text.slice(0, start + heading.length) + lines.join('\n') + text.slice(end)
}

/** A mount that the AutoDJ streams to. */
interface EncodedMount {
  readonly path: string
  readonly format: 'mp3' | 'ogg' | 'aac' | 'opus' | 'flac'
  /** kbit/s; ignored for flac. */
  readonly bitrate: number
  /** Whether public directories list it. */
  readonly isListed: boolean
}

/** The bitrates of MPEG 1, which 44.1 kHz requires. */
const mp3Bitrates = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]

const encoders = {
  mp3: bitrate => `%mp3(bitrate=${findNearest(mp3Bitrates, bitrate)})`,
  // Below 48 kbit/s libvorbis has no mode for 44.1 kHz stereo, and Liquidsoap exits.
  ogg: bitrate => `%vorbis.cbr(bitrate=${clamp(bitrate, 48, 500)})`,
  opus: bitrate => `%opus(bitrate=${clamp(bitrate, 6, 510)})`,
  flac: () => '%ogg(%flac)',
  aac: bitrate => `%fdkaac(bitrate=${clamp(bitrate, 16, 320)})`
} satisfies Record<EncodedMount['format'], (bitrate: number) => string>

/** Renders the output of a mount, at the nearest bitrate that the encoder supports. */
export function renderMountOutput({ path, format, bitrate, isListed }: EncodedMount): string {
  const target = `mount=${quoteLiquidsoapText(path)}, is_public=${isListed}`
  const encoder = encoders[format](bitrate)
  if (format !== 'aac') return `send_to(${target}, ${encoder})`
  const send = (each: string) => `send_to(${target}, content_type="audio/aac", ${each})`
  return [
    '# Debian has no fdkaac; the encoder of FFmpeg is always available.',
    '%ifencoder %fdkaac',
    send(encoder),
    '%else',
    send(`%ffmpeg(format="adts", %audio(codec="aac", b="${clamp(bitrate, 16, 320)}k"))`),
    '%endif'
  ].join('\n')
}

const clamp = (value: number, min: number, max: number) => Math.min(Math.max(value, min), max)

function findNearest(choices: readonly number[], value: number): number {
  return choices.reduce((best, each) => (Math.abs(each - value) < Math.abs(best - value) ? each : best))
}

/**
 * Quotes a text as a Liquidsoap expression on one line. Liquidsoap 2.1 interpolates `#{...}` even if the `#`
 * is escaped, so the two characters are put in separate literals.
 */
export function quoteLiquidsoapText(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Surrogate}]+/gu, ' ')
  const literals = line.split(/(?<=#)(?=\{)/).map(part => `"${escapeQuotes(part)}"`)
  return literals.length === 1 ? literals.join('') : `(${literals.join(' ^ ')})`
}

const escapeQuotes = (text: string) => text.replace(/["\\]/g, '\\$&')

/** Formats a number of 0 or more as a Liquidsoap float, which needs a decimal point. */
export function formatLiquidsoapFloat(value: number): string {
  return value.toFixed(3).replace(/0+$/, '')
}

/** Renders a song as a Liquidsoap request URI: `annotate:title="...",...:media:path`. */
export function renderAnnotatedUri(song: Omit<PlayoutSong, 'stream' | 'durationMs'>): string {
  const cues = fitCuePoints(song.cues, song.fileMs)
  const annotations = {
    title: song.title,
    artist: song.artist,
    duration: song.fileMs === 0 ? '' : (song.fileMs / 1000).toFixed(2),
    song_id: song.songId,
    media_id: song.mediaId,
    playlist_id: song.playlistId ?? '',
    jingle_mode: song.isJingle ? 'true' : '',
    request_id: song.requestId ?? '',
    sq_id: song.queueId,
    ...cueAnnotations(cues),
    ...(song.autocue ? autocueAnnotations(cues, song.fileMs, song.autocue) : {})
  }
  const pairs = Object.entries(annotations)
    .filter(([name, value]) => value !== '' || name === 'title' || name === 'artist')
    .map(([name, value]) => `${name}="${escapeQuotes(String(value).replace(/\p{Cc}+/gu, ' '))}"`)
  const uri = isWebUrl(song.path) ? song.path : `media:${song.path}`
  return `annotate:${pairs.join(',')}:${uri}`
}

const formatCue = (ms: number | null) => (ms === null ? '' : (ms / 1000).toFixed(3))

/** The annotations that operators of Liquidsoap read by default. Unknown cues are empty. */
function cueAnnotations({ cueInMs, cueOutMs, startNextMs, fadeInMs, fadeOutMs, amplifyDb }: CuePoints) {
  return {
    liq_cue_in: formatCue(cueInMs),
    liq_cue_out: formatCue(cueOutMs),
    liq_cross_start_next: formatCue(startNextMs),
    liq_fade_in: formatCue(fadeInMs),
    liq_fade_out: formatCue(fadeOutMs),
    liq_amplify: amplifyDb === null ? '' : `${amplifyDb.toFixed(2)} dB`
  }
}

/**
 * The annotations for scripts of AzuraCast. Without `azuracast_autocue` the script computes the cue points of
 * the song and stores them under the cache key; with it, it requires cue points and fades.
 */
function autocueAnnotations(cues: CuePoints, fileMs: number, { cacheKey, fadeMs }: AutocueOptions) {
  const { cueInMs, cueOutMs, startNextMs, fadeInMs, fadeOutMs } = cues
  const isKnown = [cueInMs, cueOutMs, startNextMs, fadeInMs, fadeOutMs].some(ms => ms !== null)
  const startMs = cueInMs ?? 0
  const endMs = cueOutMs ?? fileMs
  if (!isKnown || endMs === 0) return { azuracast_cache_key: cacheKey }
  const defaultFadeMs = Math.min(fadeMs, endMs - startMs)
  return {
    azuracast_cache_key: cacheKey,
    azuracast_autocue: 'true',
    autocue_cue_in: formatCue(startMs),
    autocue_cue_out: formatCue(endMs),
    autocue_fade_in: formatCue(fadeInMs ?? defaultFadeMs),
    autocue_fade_out: formatCue(fadeOutMs ?? defaultFadeMs),
    autocue_start_next: formatCue(startNextMs)
  }
}
