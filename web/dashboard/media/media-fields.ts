import type { StationFile } from '../api/responses.ts'

/** The tags that are edited as a line of text. */
export const tagTitles = {
  title: 'Title',
  artist: 'Artist',
  album: 'Album',
  genre: 'Genre',
  isrc: 'ISRC'
} as const satisfies Partial<Record<keyof StationFile, string>>
export type TagName = keyof typeof tagTitles

/** What the form calls the fields of a record. */
export const mediaFieldTitles: Readonly<Record<string, string>> = {
  ...tagTitles,
  lyrics: 'Lyrics',
  playlists: 'Playlists',
  custom_fields: 'Custom fields',
  extra_metadata: 'Cue points'
}

const isTagName = (name: string): name is TagName => name in tagTitles
export const tagNames = Object.keys(tagTitles).filter(isTagName)
