import { scalarToText } from '../../../src/commands/from-azuracast/source.ts'
import type { Row, World } from './world.ts'

export const songFields = [
  'artist',
  'title',
  'album',
  'text',
  'genre',
  'isrc',
  'lyrics',
  'custom_fields',
  'song_id'
]
/** The members of a song in a record. */
export const insideSong = Object.fromEntries(songFields.map(name => [name, 'song']))

/** The row with an id; empty if there is none. */
export const firstOf = (world: World, table: string, id: unknown): Row => world.find(table, 'id', id)[0] ?? {}

/** The columns of a song that records of other types show. */
export function songColumns(world: World, mediaId: unknown): Row {
  const song = firstOf(world, 'station_media', mediaId)
  return { ...pick(song, songFields), custom_fields: customFieldsOf(world, mediaId) }
}

export const pick = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(names.map(name => [name, row[name] ?? null]))

/** The values of a song by the short names of their fields. */
export function customFieldsOf(world: World, mediaId: unknown): Row {
  const values = world.find('station_media_custom_field', 'media_id', mediaId)
  return Object.fromEntries(
    values.map(value => [
      scalarToText(firstOf(world, 'custom_field', value['field_id'])['short_name']),
      value['field_value']
    ])
  )
}
