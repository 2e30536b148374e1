import { html, nothing } from 'lit'

import type { FieldProblem } from '../api/api-error.ts'
import { toFieldLabel } from '../forms/form-field.ts'
import { cueTitles } from './cues.ts'
import { tagTitles } from './media-fields.ts'

/** The problem of a field, below it. */
export const fieldProblemView = (text: string) =>
  text === '' ? nothing : html`<span class="trouble" role="alert">${text}</span>`

/** Shown for a file that is no cover. */
export const coverProblem = 'The cover must be a picture: JPEG, PNG, WebP or GIF.'

const titles: Readonly<Record<string, string>> = { ...tagTitles, ...cueTitles, lyrics: 'Lyrics' }

/** The label of a field of the form: `Cue in` for `extra_metadata.cue_in`. `customNames` are by short name. */
function labelOf(field: string, customNames: ReadonlyMap<string, string>): string {
  const [parent = '', member = parent] = field.split(/\.(.*)/s)
  return parent === 'custom_fields'
    ? customFieldLabel(member, customNames)
    : (titles[member] ?? toFieldLabel(member))
}

/** The name of a custom field, or words of its short name if the name is not known. */
export const customFieldLabel = (shortName: string, customNames: ReadonlyMap<string, string>): string =>
  customNames.get(shortName) ?? toFieldLabel(shortName)

/** The problem of a field in the words of the form: `Cue out must be after Cue in.` */
export const describeFieldProblem = (
  { message }: FieldProblem,
  customNames: ReadonlyMap<string, string>
): string =>
  message.replaceAll(/(?:extra_metadata|custom_fields)\.[\w-]+|\b[a-z]+_[a-z_]+\b|^[a-z]+(?= )/g, name =>
    labelOf(name, customNames)
  )
