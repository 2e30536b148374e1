import * as v from 'valibot'

import { artistKeys, titleKey } from '../../model/songs/duplicate-keys.ts'
import { parseJson } from '../../platform/text/parse-json.ts'

/** A song whose cover is looked up. Neither text is empty. */
export interface SearchedSong {
  readonly artist: string
  readonly title: string
}

/** The number of recordings requested. */
const recordingsLimit = 5
const minScore = 90
/** Of several releases of a song, the covers of this many are requested until one exists. */
const maxReleaseGroups = 3

/**
 * The URL of a search for recordings; see https://musicbrainz.org/doc/MusicBrainz_API/Search. `baseUrl` has no
 * trailing slash.
 */
export function buildMusicBrainzUrl(baseUrl: string, { artist, title }: SearchedSong): string {
  const query = `artist:"${escapeLuceneQuery(artist)}" AND recording:"${escapeLuceneQuery(title)}"`
  return `${baseUrl}/ws/2/recording?query=${encodeURIComponent(query)}&fmt=json&limit=${recordingsLimit}`
}

/** Escapes the special characters of the query syntax of Lucene. */
export function escapeLuceneQuery(text: string): string {
  return text.replace(/[-+&|!(){}[\]^"~*?:\\/]/g, String.raw`\$&`)
}

const releaseGroup = v.object({
  id: v.pipe(v.string(), v.regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)),
  'primary-type': v.nullish(v.string(), ''),
  'secondary-types': v.nullish(v.array(v.string()), [])
})

const release = v.object({
  status: v.nullish(v.string(), ''),
  date: v.nullish(v.string(), ''),
  'release-group': releaseGroup
})

type Release = v.InferOutput<typeof release>

const recording = v.object({
  score: v.number(),
  title: v.string(),
  'artist-credit': v.array(v.object({ name: v.string(), joinphrase: v.nullish(v.string(), '') })),
  releases: v.nullish(v.array(v.unknown()), [])
})

type Recording = v.InferOutput<typeof recording>

const searchResponse = v.object({ recordings: v.array(v.unknown()) })

/**
 * Returns the ids of the release groups of a song in a search result, the most suitable first: official
 * albums, singles and EPs before compilations, then by date. Only recordings with a high score whose artist
 * and title are those of the song count. Empty if there are none; null if the text is no search result.
 */
export function parseReleaseGroups(text: string, song: SearchedSong): string[] | null {
  const response = v.safeParse(searchResponse, parseJson(text))
  if (!response.success) return null
  const releases = keepValid(recording, response.output.recordings)
    .filter(found => isSameSong(found, song))
    .flatMap(found => keepValid(release, found.releases))
    .toSorted((a, b) => rankRelease(a) - rankRelease(b) || compareDates(a.date, b.date))
  return [...new Set(releases.map(found => found['release-group'].id))].slice(0, maxReleaseGroups)
}

/** Ignores records that lack what is needed. */
function keepValid<Schema extends v.GenericSchema>(schema: Schema, records: readonly unknown[]) {
  return records.flatMap(record => {
    const result = v.safeParse(schema, record)
    return result.success ? [result.output] : []
  })
}

function isSameSong(found: Recording, { artist, title }: SearchedSong): boolean {
  const credits = found['artist-credit'].map(each => ({ ...each, name: toPlainPunctuation(each.name) }))
  const text = credits.map(({ name, joinphrase }) => name + toPlainPunctuation(joinphrase)).join('')
  const key = titleKey(toPlainPunctuation(title))
  const artists = artistKeys(toPlainPunctuation(artist))
  const names = credits.map(({ name }) => name)
  return (
    found.score >= minScore &&
    key !== 0 &&
    key === titleKey(toPlainPunctuation(found.title)) &&
    artists.length > 0 &&
    (haveSameKeys(artists, artistKeys(text)) || haveSameKeys(artists, artistKeys(text, names)))
  )
}

const haveSameKeys = (some: readonly number[], others: readonly number[]) =>
  some.length === others.length && others.every(key => some.includes(key))

/** MusicBrainz uses typographic punctuation, tags and stream titles mostly do not. */
function toPlainPunctuation(text: string): string {
  return text
    .replace(/[\u2018\u2019\u02BC\u2032\u00B4`]/g, "'")
    .replace(/[\u201C\u201D\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll('\u2026', '...')
}

const mainTypes: ReadonlySet<string> = new Set(['Album', 'Single', 'EP'])

/** 0 is best. */
function rankRelease({ status, 'release-group': group }: Release): number {
  const isUnofficial = status !== 'Official'
  const isDerived = group['secondary-types'].length > 0
  const isOther = !mainTypes.has(group['primary-type'])
  return Number(isUnofficial) * 4 + Number(isDerived) * 2 + Number(isOther)
}

/** Compares dates like `1994` and `1994-08-22`. Unknown ones are last. */
function compareDates(a: string, b: string): number {
  const [first, second] = [a || '9999', b || '9999']
  return first === second ? 0 : first < second ? -1 : 1
}
