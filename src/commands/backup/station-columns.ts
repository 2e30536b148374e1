import * as v from 'valibot'

import { isVerifiableHash } from '../../api/auth/passwords.ts'
import { audioExtensions } from '../../library/uploads/station-audio.ts'
import {
  choice,
  toColumnName,
  custom,
  decimal,
  type Field,
  type Fields,
  flag,
  integer,
  limitElements,
  problemText
} from '../../model/fields/field.ts'
import { parseLibraryPath } from '../../model/songs/library-path.ts'
import { cleanLine, cleanLines } from '../../model/songs/song.ts'
import { withoutLostCharacters } from '../../platform/text/foreign-text.ts'

/*
 * What the columns of an exported station may hold. Columns that the REST API writes have its rules; the others have
 * those of this file. Texts of songs are cleaned as those of files are; everything else that does not fit is refused.
 */

const about = ''
const dayMs = 86_400_000
export const maxInteger = 2_147_483_647

/** The rules of the API for the columns of a resource, without secrets, and without the columns `except`. */
export function columnsOf({ fields }: { readonly fields: Fields }, except: readonly string[] = []): Fields {
  const stored = Object.entries(fields).filter(
    ([, { kind, isStored }]) => isStored && kind !== 'secret' && kind !== 'read-only'
  )
  const columns = stored.map(([name, field]): [string, Field<unknown>] => [toColumnName(name), field])
  return Object.fromEntries(columns.filter(([column]) => !except.includes(column)))
}

/** A column that may be null. */
export const optional = <Value>({ input }: Field<Value>): Field<Value | null> =>
  custom(v.nullable(input), { schema: {}, about })

/** A whole number. */
export const whole = (min = 0, max = Number.MAX_SAFE_INTEGER) => integer({ min, max, about })

/** The id of a row of the file. */
export const id = whole(1)

/** A time in milliseconds, at most a day ahead of this machine. */
export const moment: Field<number> = custom(
  v.pipe(
    whole().input,
    v.check(ms => ms <= Date.now() + dayMs, problemText('out_of_range', 'must not be in the future.'))
  ),
  { schema: {}, about }
)

/** A time of Postgres as text, within the range of dates that people have. */
export const timestamp: Field<string> = custom(
  v.pipe(
    v.string(),
    v.regex(/^[12]\d{3}-/, problemText('out_of_range', 'must be a time in the years 1000 to 2999.'))
  ),
  { schema: {}, about }
)

/** A text of a song or a play: one line, cleaned and truncated. */
export const line = (max: number): Field<string> =>
  custom(
    v.pipe(
      v.string(),
      v.transform(text => cleanLine(text, max))
    ),
    { schema: {}, about }
  )

/** The lyrics of a song. */
export const lines = (max: number): Field<string> =>
  custom(
    v.pipe(
      v.string(),
      v.transform(text => cleanLines(text, max))
    ),
    { schema: {}, about }
  )

/** The value of a custom field, cleaned. */
export const value = (max: number): Field<string> =>
  custom(
    v.pipe(
      v.string(),
      v.transform(withoutLostCharacters),
      v.maxLength(max, problemText('too_long', `must have at most ${max} characters.`))
    ),
    { schema: {}, about }
  )

/** Text of a form. */
export const matching = (pattern: RegExp, says: string): Field<string> =>
  custom(v.pipe(v.string(), v.regex(pattern, problemText('invalid_format', says))), { schema: {}, about })

/** Elements of one kind. */
export const list = <Item>(item: Field<Item>, max: number): Field<Item[]> =>
  custom(v.pipe(v.unknown(), limitElements(max), v.array(item.input)), { schema: {}, about })

export const truth = flag({ about })
export const number = (min: number, max: number) => decimal({ min, max, about })
export const word = <const Option extends string>(options: readonly [Option, ...Option[]]) =>
  choice(options, { about })

/** Songs of the demo station have no file. */
const catalogueName = /^catalogue:[\w/-]{1,200}$/

/** The path of a song below the media folder, or its URL. Other schemes are commands for a playout. */
export const songPath: Field<string> = custom(
  v.pipe(
    v.string(),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed || catalogueName.test(dataset.value)) return
      const parsed = parseLibraryPath(dataset.value, null)
      if ('problem' in parsed) addIssue({ message: problemText('invalid_format', parsed.problem) })
    })
  ),
  { schema: {}, about }
)

/** The path of a folder of the library; empty: all of it. */
export const folderPath: Field<string> = custom(v.union([v.literal(''), songPath.input]), {
  schema: {},
  about
})

/** The name of an audio file in the folder `config` of a station; empty: none. */
export const audioFileName: Field<string> = matching(
  new RegExp(`^$|^[\\w-]{1,100}(${audioExtensions.join('|').replaceAll('.', '\\.')})$`),
  'must be the name of an audio file.'
)

/** What is stored of a password; empty: none. */
export const passwordHash: Field<string> = custom(
  v.pipe(
    v.string(),
    v.check(
      hash => hash === '' || isVerifiableHash(hash),
      problemText('invalid_format', 'must be a hash of argon2id at a usual cost.')
    )
  ),
  { schema: {}, about }
)

export const songId = matching(/^[0-9a-f]{32}$/, 'must be 32 hexadecimal digits.')
export const sha256 = matching(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits.')
