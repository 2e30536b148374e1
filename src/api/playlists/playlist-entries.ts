import * as v from 'valibot'

import { integer, type JsonSchema, problem } from '../../fields/field.ts'
import { ApiError } from '../../runtime/errors.ts'
import { isCut, maxEntries, parsePlaylist, type PlaylistEntry } from '../../songs/playlist-file.ts'
import { cleanLine, longest } from '../../songs/song.ts'
import { parseBody } from '../core/parse.ts'

/** What a body names: a song of the library by its id, or a line of a list. */
export type Wanted = { readonly id: number } | { readonly entry: PlaylistEntry }

const pathMost = 4_096

const id = integer({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'id' }).input
const path = v.pipe(
  v.string(problem('invalid_type', 'must be text.')),
  v.check(value => value.trim() !== '', problem('blank', 'must not be empty.')),
  v.maxLength(pathMost, problem('too_long', `must have at most ${pathMost} characters.`))
)
const tag = v.nullish(v.string(problem('invalid_type', 'must be text.')), '')

const wanted = v.union(
  [
    v.pipe(
      v.number(),
      v.safeInteger(problem('invalid_type', 'must be a whole number.')),
      v.minValue(1, problem('out_of_range', 'must be at least 1.')),
      v.transform((value): Wanted => ({ id: value }))
    ),
    v.pipe(
      path,
      v.transform((value): Wanted => entryOf({ path: value, artist: '', title: '', length: 0 }))
    ),
    v.pipe(
      v.object({ id }),
      v.transform(({ id: value }): Wanted => ({ id: value }))
    ),
    v.pipe(
      v.object({
        path,
        artist: tag,
        title: tag,
        length: v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(2_147_483)), 0)
      }),
      v.transform((value): Wanted => entryOf(value))
    )
  ],
  problem('invalid_type', 'must be a path, an id, or an object with one of them.')
)

const list = v.pipe(
  v.unknown(),
  v.check(Array.isArray, problem('invalid_type', 'must be a list, or the text of an M3U or PLS file.')),
  v.check(
    value => Array.isArray(value) && value.length <= maxEntries,
    problem('too_long', `must have at most ${maxEntries} elements.`)
  ),
  v.array(wanted)
)

function entryOf(given: { path: string; artist: string; title: string; length: number }): Wanted {
  const artist = cleanLine(given.artist, longest.artist)
  const title = cleanLine(given.title, longest.title)
  return { entry: { location: given.path, artist, title, durationMs: Math.round(given.length * 1000) } }
}

/**
 * Reads the text of an M3U, M3U8 or PLS file, or a JSON list. Throws a 400 that says what is wrong with it.
 */
export function parseWanted(body: unknown): Wanted[] {
  if (typeof body !== 'string') return parseBody(list, body)
  const file = parsePlaylist(Buffer.from(body))
  const { entries, problems } = file
  const [reason] = problems
  if (entries.length === 0 && reason !== undefined)
    refuse('invalid_format', `The playlist cannot be used: ${reason}.`)
  if (isCut(file)) refuse('too_long', `The playlist has more than ${maxEntries} entries.`)
  return entries.map(entry => ({ entry }))
}

function refuse(code: string, message: string): never {
  throw ApiError.ofFields([{ field: '', code, message }])
}

export const wantedSchema: JsonSchema = {
  type: 'array',
  maxItems: maxEntries,
  items: {
    oneOf: [
      { type: 'string', minLength: 1, maxLength: pathMost, description: 'A path or an address.' },
      { type: 'integer', format: 'int64', minimum: 1, description: 'The id of a song of the library.' },
      {
        type: 'object',
        properties: {
          id: { type: 'integer', format: 'int64', minimum: 1 },
          path: { type: 'string', minLength: 1, maxLength: pathMost },
          artist: { type: 'string' },
          title: { type: 'string' },
          length: { type: 'number', minimum: 0, description: 'Seconds.' }
        }
      }
    ]
  },
  examples: [['ishizaka/aria.mp3', 12, { path: 'https://example.com/live.mp3', title: 'Live' }]]
}
