import type { FormField } from '../forms/form-field.ts'

/** Fields of the form of a playlist that belong together. */
export interface FieldGroup {
  readonly title: string
  readonly fields: readonly FormField[]
}

const whatItPlays = [
  'name',
  'is_enabled',
  'source',
  'remote_url',
  'remote_type',
  'remote_buffer',
  'order',
  'avoid_duplicates',
  'is_jingle'
]
const howOften = ['type', 'play_per_songs', 'play_per_minutes', 'play_per_hour_minute', 'weight']
/** Edited in the calendar, or always empty. */
const elsewhere = ['schedule_items', 'podcasts']

const optionLabels: Readonly<Record<string, string>> = {
  interrupt: 'Interrupt: end the current song when the playlist becomes due',
  single_track: 'Single track: one song per scheduled period',
  merge: 'Merge: the whole list without other songs in between',
  prioritize: 'Prioritize: requests wait while it is due',
  loop_once: 'Loop once: every song once per scheduled period'
}

/**
 * Groups the fields that apply to a playlist: those of a URL only to remote playlists, the interval only to
 * its type. Fields that this form does not know are shown as advanced.
 */
export function groupPlaylistFields(
  fields: readonly FormField[],
  read: (name: string) => unknown
): FieldGroup[] {
  const isRemote = read('source') === 'remote_url'
  const type = read('type')
  const hidden = new Set([
    ...elsewhere,
    ...(isRemote
      ? howOften.filter(name => name !== 'weight')
      : ['remote_url', 'remote_type', 'remote_buffer']),
    ...(type === 'once_per_x_songs' ? [] : ['play_per_songs']),
    ...(type === 'once_per_x_minutes' ? [] : ['play_per_minutes']),
    ...(type === 'once_per_hour' ? [] : ['play_per_hour_minute'])
  ])
  const shown = fields.filter(({ name }) => !hidden.has(name)).map(withOptions)
  const pick = (names: readonly string[]) => names.flatMap(name => shown.filter(field => field.name === name))
  const known = new Set([...whatItPlays, ...howOften])
  return [
    { title: 'What it plays', fields: pick(whatItPlays) },
    { title: 'How often', fields: pick(howOften) },
    { title: 'Advanced', fields: shown.filter(({ name }) => !known.has(name)) }
  ]
}

/** Options are words in one text; the form shows them as check boxes. */
function withOptions(field: FormField): FormField {
  if (field.name !== 'backend_options') return field
  const options = Object.entries(optionLabels).map(([value, label]) => ({ value, label }))
  return { ...field, label: 'Options', description: '', kind: 'choices', fallback: [], options }
}

/** A record with its options as a list, as the form edits them. */
export const toFormRecord = <Settings extends { readonly backend_options: string }>(record: Settings) => ({
  ...record,
  backend_options: record.backend_options.split(',').filter(option => option !== '')
})
