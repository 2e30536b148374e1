import { expect, test } from 'vitest'

import { playlistsResource } from '../../../../src/api/playlists/playlists.ts'
import type { FormField } from '../../../../web/dashboard/forms/form-field.ts'
import { groupPlaylistFields, toFormRecord } from '../../../../web/dashboard/playlists/playlist-fields.ts'

const fields = Object.keys(playlistsResource.fields).map((name): FormField => ({
  name,
  label: name,
  description: '',
  kind: 'text',
  isRequired: false,
  isFixed: false,
  isRemovable: false,
  fallback: '',
  options: [],
  placeholder: '',
  min: null,
  max: null,
  maxLength: null,
  group: ''
}))

const namesOf = (values: Readonly<Record<string, string>>) =>
  groupPlaylistFields(fields, name => values[name]).flatMap(group => group.fields.map(({ name }) => name))

test('every setting is in a group, for the type and source that it applies to', () => {
  const shown = [
    ...namesOf({ source: 'songs', type: 'once_per_x_songs' }),
    ...namesOf({ source: 'songs', type: 'once_per_x_minutes' }),
    ...namesOf({ source: 'songs', type: 'once_per_hour' }),
    ...namesOf({ source: 'remote_url', type: 'default' })
  ]
  const elsewhere = ['schedule_items', 'podcasts']
  expect(new Set(shown)).toEqual(
    new Set(fields.map(({ name }) => name).filter(name => !elsewhere.includes(name)))
  )
  expect(namesOf({ source: 'songs', type: 'default' })).not.toContain('play_per_songs')
  expect(namesOf({ source: 'songs', type: 'default' })).not.toContain('remote_url')
  expect(namesOf({ source: 'remote_url', type: 'default' })).not.toContain('type')
})

test('options are edited as a list', () => {
  expect(toFormRecord({ backend_options: 'merge,interrupt' }).backend_options).toEqual(['merge', 'interrupt'])
  expect(toFormRecord({ backend_options: '' }).backend_options).toEqual([])
  const options = groupPlaylistFields(fields, () => '').flatMap(
    group => group.fields.find(({ name }) => name === 'backend_options') ?? []
  )
  expect(options[0]).toMatchObject({ kind: 'choices', label: 'Options' })
})
