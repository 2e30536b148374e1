import { cleanLine, maxTagLengths } from '../../../model/songs/song.ts'
import type { TagTexts } from './named-tags.ts'

const maxArtists = 20

/** The displayed artist, and all artists if the file lists them. */
export interface SongArtists {
  readonly artist: string
  readonly artists: readonly string[]
}

/**
 * Reads the artists of a song from its tags, the most important block first. A list is several values of the tag
 * for the artist, or the tag `ARTISTS` that Picard adds. A slash is part of a name: `AC/DC` is one artist.
 */
export function pickSongArtists(blocks: readonly TagTexts[]): SongArtists {
  const text = blocks.map(block => block.get('artist')?.[0]).find(first => first !== undefined)
  const list = blocks.map(block => listOf(block, text)).find(names => names.length > 0) ?? []
  const artists = unique(list)
  return {
    artist: cleanLine(text ?? joinNames(artists), maxTagLengths.artist),
    artists: artists.length === 1 && artists[0] === cleanLine(text ?? '', maxTagLengths.artist) ? [] : artists
  }
}

function listOf(block: TagTexts, text = ''): readonly string[] {
  const named = block.get('artist') ?? []
  const listed = block.get('artists') ?? []
  const displayed = toComparable(text)
  const names = listed.flatMap(value => splitListed(value, displayed) ?? (listed.length > 1 ? [value] : []))
  if (names.length > 0) return names
  const isListOfText = named[0] === text || named.every(name => displayed.includes(toComparable(name)))
  return named.length > 1 && isListOfText ? named : []
}

const toComparable = (text: string) => text.normalize().toLowerCase()

/**
 * ID3v2.3 joins values with slashes, and some programs with semicolons. Split only between names that the displayed
 * text contains; null if it does not contain them.
 */
function splitListed(value: string, displayed: string): readonly string[] | null {
  const values = value.split(';').filter(piece => piece.trim() !== '')
  if (displayed === '' || (values.length < 2 && !value.includes('/'))) return [value]
  const names = values.map(piece => splitAtSlashes(piece, displayed))
  return names.every(pieces => pieces !== null) ? names.flat() : null
}

function splitAtSlashes(value: string, displayed: string): readonly string[] | null {
  const isDisplayed = (name: string) => displayed.includes(toComparable(name.trim()))
  if (isDisplayed(value)) return [value]
  const pieces = value.split('/')
  if (pieces.length > 50) return null
  const names: string[] = []
  for (let at = 0; at < pieces.length;) {
    let end = pieces.length
    while (end > at && !isDisplayed(pieces.slice(at, end).join('/'))) end -= 1
    if (end === at) return null
    names.push(pieces.slice(at, end).join('/'))
    at = end
  }
  return names
}

function unique(names: readonly string[]): string[] {
  const clean = names.map(name => cleanLine(name, maxTagLengths.artist)).filter(name => name !== '')
  return [...new Set(clean)].slice(0, maxArtists)
}

/** `A`, `A & B`, `A, B & C`. */
function joinNames(names: readonly string[]): string {
  const [last = ''] = names.slice(-1)
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} & ${last}`
}
