import * as v from 'valibot'

const text = v.string()
const seconds = v.nullable(v.number())

/** `api/station/{id}/file/{media id}` */
export const mediaRecordSchema = v.object({
  id: v.number(),
  path: text,
  title: text,
  artist: text,
  album: text,
  genre: text,
  isrc: text,
  lyrics: text,
  length: v.number(),
  art: text,
  playlists: v.array(v.number()),
  custom_fields: v.record(text, v.nullable(text)),
  extra_metadata: v.object({
    amplify: seconds,
    cue_in: seconds,
    cue_out: seconds,
    fade_in: seconds,
    fade_out: seconds,
    cross_start_next: seconds
  })
})
export type MediaRecord = v.InferOutput<typeof mediaRecordSchema>

/** `api/station/{id}/playlists` */
export const playlistsSchema = v.array(
  v.object({ id: v.number(), name: text, source: v.optional(text, 'songs') })
)
export type MediaPlaylist = v.InferOutput<typeof playlistsSchema>[number]

/** The tags that are edited as a line of text. */
export const tagTitles = {
  title: 'Title',
  artist: 'Artist',
  album: 'Album',
  genre: 'Genre',
  isrc: 'ISRC'
} as const satisfies Partial<Record<keyof MediaRecord, string>>
export type TagName = keyof typeof tagTitles

/** What the form calls the fields of a record. */
export const fieldTitles: Readonly<Record<string, string>> = {
  ...tagTitles,
  lyrics: 'Lyrics',
  playlists: 'Playlists',
  custom_fields: 'Custom fields',
  extra_metadata: 'Cue points'
}

const isTagName = (name: string): name is TagName => name in tagTitles
export const tagNames = Object.keys(tagTitles).filter(isTagName)
