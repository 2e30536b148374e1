import { readFileSync } from 'node:fs'

import { parsedUrl } from '../parsed-url.ts'
import { programFile } from '../program-files.ts'
import { type EncodedMount, renderMount } from './liquidsoap-encoder.ts'
import { liquidsoapFloat, liquidsoapText } from './liquidsoap-text.ts'

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
 * The Liquidsoap script that plays a station, which calls Cuewire at `baseUrl` unless its environment names another
 * address.
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
