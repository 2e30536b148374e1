import * as v from 'valibot'

import { isVerifiablePasswordHash } from '../../api/auth/passwords.ts'
import { audioExtensions } from '../../library/uploads/station-audio.ts'
import {
  choiceField,
  toColumnName,
  validatedField,
  decimalField,
  type Field,
  type Fields,
  flagField,
  integerField,
  maxElementsCheck,
  formatCheckMessage
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
export const maxInt32 = 2_147_483_647

/** The rules of the API for the columns of a resource, without secrets, and without the columns `except`. */
export function resourceColumns(
  { fields }: { readonly fields: Fields },
  except: readonly string[] = []
): Fields {
  const stored = Object.entries(fields).filter(
    ([, { kind, isStored }]) => isStored && kind !== 'secret' && kind !== 'read-only'
  )
  const columns = stored.map(([name, field]): [string, Field<unknown>] => [toColumnName(name), field])
  return Object.fromEntries(columns.filter(([column]) => !except.includes(column)))
}

/** A column that may be null. */
export const nullableColumn = <Value>({ input }: Field<Value>): Field<Value | null> =>
  validatedField(v.nullable(input), { schema: {}, about })

/** A whole number. */
export const wholeNumberColumn = (min = 0, max = Number.MAX_SAFE_INTEGER) => integerField({ min, max, about })

/** The id of a row of the file. */
export const idColumn = wholeNumberColumn(1)

/** A time in milliseconds, at most a day ahead of this machine. */
export const pastMsColumn: Field<number> = validatedField(
  v.pipe(
    wholeNumberColumn().input,
    v.check(ms => ms <= Date.now() + dayMs, formatCheckMessage('out_of_range', 'must not be in the future.'))
  ),
  { schema: {}, about }
)

/** A time of Postgres as text, within the range of dates that people have. */
export const timestampColumn: Field<string> = validatedField(
  v.pipe(
    v.string(),
    v.regex(/^[12]\d{3}-/, formatCheckMessage('out_of_range', 'must be a time in the years 1000 to 2999.'))
  ),
  { schema: {}, about }
)

/** A text of a song or a play: one line, cleaned and truncated. */
export const lineColumn = (max: number): Field<string> =>
  validatedField(
    v.pipe(
      v.string(),
      v.transform(text => cleanLine(text, max))
    ),
    { schema: {}, about }
  )

/** The lyrics of a song. */
export const linesColumn = (max: number): Field<string> =>
  validatedField(
    v.pipe(
      v.string(),
      v.transform(text => cleanLines(text, max))
    ),
    { schema: {}, about }
  )

/** The value of a custom field, cleaned. */
export const customValueColumn = (max: number): Field<string> =>
  validatedField(
    v.pipe(
      v.string(),
      v.transform(withoutLostCharacters),
      v.maxLength(max, formatCheckMessage('too_long', `must have at most ${max} characters.`))
    ),
    { schema: {}, about }
  )

/** Text of a form. */
export const matchingTextColumn = (pattern: RegExp, says: string): Field<string> =>
  validatedField(v.pipe(v.string(), v.regex(pattern, formatCheckMessage('invalid_format', says))), {
    schema: {},
    about
  })

/** Elements of one kind. */
export const listColumn = <Item>(item: Field<Item>, max: number): Field<Item[]> =>
  validatedField(v.pipe(v.unknown(), maxElementsCheck(max), v.array(item.input)), { schema: {}, about })

export const booleanColumn = flagField({ about })
export const numberColumn = (min: number, max: number) => decimalField({ min, max, about })
export const wordColumn = <const Option extends string>(options: readonly [Option, ...Option[]]) =>
  choiceField(options, { about })

/** Songs of the demo station have no file. */
const catalogueName = /^catalogue:[\w/-]{1,200}$/

/** The path of a song below the media folder, or its URL. Other schemes are commands for a playout. */
export const songPathColumn: Field<string> = validatedField(
  v.pipe(
    v.string(),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed || catalogueName.test(dataset.value)) return
      const parsed = parseLibraryPath(dataset.value, null)
      if ('problem' in parsed) addIssue({ message: formatCheckMessage('invalid_format', parsed.problem) })
    })
  ),
  { schema: {}, about }
)

/** The path of a folder of the library; empty: all of it. */
export const folderPathColumn: Field<string> = validatedField(
  v.union([v.literal(''), songPathColumn.input]),
  {
    schema: {},
    about
  }
)

/** The name of an audio file in the folder `config` of a station; empty: none. */
export const audioFileNameColumn: Field<string> = matchingTextColumn(
  new RegExp(`^$|^[\\w-]{1,100}(${audioExtensions.join('|').replaceAll('.', '\\.')})$`),
  'must be the name of an audio file.'
)

/** What is stored of a password; empty: none. */
export const passwordHashColumn: Field<string> = validatedField(
  v.pipe(
    v.string(),
    v.check(
      hash => hash === '' || isVerifiablePasswordHash(hash),
      formatCheckMessage('invalid_format', 'must be a hash of argon2id at a usual cost.')
    )
  ),
  { schema: {}, about }
)

export const songIdColumn = matchingTextColumn(/^[0-9a-f]{32}$/, 'must be 32 hexadecimal digits.')
export const sha256Column = matchingTextColumn(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits.')
