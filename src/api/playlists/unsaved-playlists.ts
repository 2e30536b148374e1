import * as v from 'valibot'

import { integerField, listField, formatCheckMessage, type ValuesOf } from '../../model/fields/field.ts'
import { bodySchema, changesValidator } from '../../model/fields/validators.ts'
import { fieldError, type FieldError } from '../../platform/runtime/errors.ts'
import { playlistsResource } from './playlists.ts'

export type PlaylistValues = Partial<ValuesOf<typeof playlistsResource.fields>>

/** The unsaved settings of a playlist. Without an id it is a new one, which has no songs. */
export type UnsavedPlaylist = PlaylistValues & { readonly id?: number }

const maxPlaylists = 1_000

const id = integerField({
  min: 1,
  max: Number.MAX_SAFE_INTEGER,
  about: 'Of a stored playlist; absent: a new one.',
  example: 3
})
const itemFields = { id, ...playlistsResource.fields }

/** Validates one of them. */
export const unsavedPlaylistValidator: v.GenericSchema<unknown, UnsavedPlaylist> = v.pipe(
  changesValidator(itemFields),
  v.check(
    values => values.id !== undefined || values.name !== undefined,
    formatCheckMessage('required', 'must have an id or a name.')
  )
)

/** A list of them, which is not validated yet: that of a long list takes so long that others wait. */
export const unsavedPlaylistsField = listField<unknown>(v.unknown(), {
  max: maxPlaylists,
  items: bodySchema(itemFields, { isPartial: true }),
  about: 'Playlists with unsaved settings; absent settings and playlists are as stored.'
})

/** Returns a problem for each playlist that the station does not have, or that occurs twice. */
export function findPlaylistIdProblems(
  unsaved: readonly UnsavedPlaylist[],
  stored: readonly { readonly id: number }[]
): FieldError[] {
  const known = new Set(stored.map(playlist => playlist.id))
  return unsaved.flatMap((each, index) => {
    if (each.id === undefined || known.delete(each.id)) return []
    const isRepeated = stored.some(playlist => playlist.id === each.id)
    const field = `playlists.${index}.id`
    return isRepeated
      ? [fieldError(field, 'duplicate', 'occurs twice.')]
      : [fieldError(field, 'not_found', 'is not a playlist of the station.')]
  })
}
