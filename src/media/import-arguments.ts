import { parseArgs } from 'node:util'

import { OperatorError } from '../errors.ts'

/** What `npm run import` was asked for. */
export interface ImportArguments {
  /** Id or short name. */
  station: string
  playlist: string
  create: boolean
  /** Folders beside the paths into which links and playlist entries may lead. */
  allowed: string[]
  paths: string[]
}

export const usage =
  'usage: npm run import -- --station STATION --playlist NAME [--create] [--allow FOLDER]... PATH...'

export const help = `${usage}

Brings audio files into the library of a station and appends them to a playlist. The same import again only
takes up what is new or changed.

  PATH        an audio file (mp3, ogg, oga, opus, flac, m4a, mp4, wav), a folder (with all below it), or a
              playlist file (m3u, m3u8, pls; it may name web addresses). Playlist files inside a folder are left
              alone, and so is what is hidden.
  --station   id or short name of the station
  --playlist  name of the playlist; it is made if there is none
  --create    make the station if there is none of this short name
  --allow     a folder into which symbolic links and entries of playlist files may lead besides the folders of
              the PATHs; may be repeated. What leads elsewhere is named and skipped
  --help      show this

The database is the one of DATABASE_URL, else that of the Cuewire that runs here, else the one in DATA_DIR.
`

/** Reads the command line; null asks for help. Throws an `OperatorError` of one line with the usage. */
export function parseImportArguments(args: string[]): ImportArguments | null {
  const { values, positionals: paths } = parse(args)
  const { station, playlist, create = false, allow: allowed = [] } = values
  if (values.help) return null
  if (!station) throw misuse('--station is missing')
  if (!playlist?.trim()) throw misuse('--playlist is missing')
  if (playlist.length > 255) throw misuse('--playlist is longer than 255 characters')
  if (paths.length === 0) throw misuse('no PATH is given')
  return { station, playlist: playlist.trim(), create, allowed, paths }
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        station: { type: 'string' },
        playlist: { type: 'string' },
        create: { type: 'boolean' },
        allow: { type: 'string', multiple: true },
        help: { type: 'boolean', short: 'h' }
      }
    })
  } catch (error) {
    // The first sentence says it; the rest is advice on escaping.
    throw misuse(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error))
  }
}

function misuse(problem: string): OperatorError {
  return new OperatorError(`${problem.replace(/\s+/g, ' ').replace(/\.$/, '')}; ${usage}`)
}
