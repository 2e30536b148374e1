import { decodeHTMLStrict } from 'entities'

import { cleanLine, longest } from '../songs/song.ts'

/**
 * Metadata as a source, a streaming server or a broadcaster sent it; what is not known is empty or left out.
 */
export interface StreamedMetadata {
  /** Artist and title in one: `The Low Signals - Night Ferry`. */
  readonly text?: string
  readonly artist?: string
  readonly title?: string
}

/** Both are empty where nothing is known. */
export interface StreamedTitle {
  readonly artist: string
  readonly title: string
}

const longestText = 512
/** An entity is much longer than what it stands for; more than this is not looked at. */
const longestSent = 4_096

/**
 * Cleans streamed metadata: HTML entities are decoded once, white space and dashes at both ends go. An artist
 * and a title that are both known stay apart; else the text, or what there is of the two, is split at its
 * first ` - `, and is all title without one.
 */
export function streamedTitle(sent: StreamedMetadata): StreamedTitle {
  const artist = cleaned(sent.artist)
  const title = cleaned(sent.title)
  if (artist !== '' && title !== '') return bounded(artist, title)
  const text = cleaned(sent.text) || artist || title
  const at = text.indexOf(separator)
  return at < 0
    ? bounded('', text)
    : bounded(bare(text.slice(0, at)), bare(text.slice(at + separator.length)))
}

const separator = ' - '

function cleaned(sent = ''): string {
  return bare(cleanLine(decodeHTMLStrict(sent.trimStart().slice(0, longestSent)), longestText))
}

function bounded(artist: string, title: string): StreamedTitle {
  return { artist: bare(cleanLine(artist, longest.artist)), title: bare(cleanLine(title, longest.title)) }
}

/** Without white space and dashes at its ends. */
const bare = (text: string) => text.replace(/^[\s-]+|[\s-]+$/gu, '')
