import { expect, test } from 'vitest'

import { describeFieldProblem } from '../../../../../web/dashboard/media/field-problem.ts'

test('problems of a song name its fields as the form does', () => {
  const errors = [
    { field: 'extra_metadata.cue_out', message: 'extra_metadata.cue_out must be after cue_in.' },
    { field: 'album', message: 'album must have at most 200 characters.' },
    { field: 'custom_fields.mood', message: 'custom_fields.mood must be a text.' },
    { field: 'custom_fields.the_key', message: 'custom_fields.the_key must be a text.' }
  ]
  const customNames = new Map([['mood', 'Mood of the song']])
  const texts = errors.map(error => [error.field, describeFieldProblem(error, customNames)])
  expect(Object.fromEntries(texts)).toEqual({
    'extra_metadata.cue_out': 'Cue out must be after Cue in.',
    album: 'Album must have at most 200 characters.',
    'custom_fields.mood': 'Mood of the song must be a text.',
    'custom_fields.the_key': 'The key must be a text.'
  })
})
