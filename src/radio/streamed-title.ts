import { decodeHTMLStrict } from 'entities'

import { cleanLine, maxTagLengths } from '../model/songs/song.ts'

/** Metadata as a source, a streaming server or a broadcaster sent it; unknown fields are empty or missing. */
interface StreamedMetadata {
  /** Artist and title in one: `The Low Signals - Night Ferry`. */
  readonly text?: string
  readonly artist?: string
  readonly title?: string
}

const maxTextLength = 512
/** Encoded text is longer than its result; input beyond this length is ignored. */
const maxInputLength = 4_096
const separator = ' - '

/**
 * Cleans streamed metadata: decodes HTML entities once, trims white space and dashes. If artist and title are
 * both present, they are kept. Otherwise the text, or the one that is present, is split at its first ` - `;
 * without a separator all of it is the title.
 */
export function parseStreamedTitle(metadata: StreamedMetadata): { artist: string; title: string } {
  const artist = decodeText(metadata.artist)
  const title = decodeText(metadata.title)
  if (artist !== '' && title !== '') return truncateTitle(artist, title)
  const text = decodeText(metadata.text) || artist || title
  const at = text.indexOf(separator)
  return at < 0
    ? truncateTitle('', text)
    : truncateTitle(trimDashes(text.slice(0, at)), trimDashes(text.slice(at + separator.length)))
}

function decodeText(text = ''): string {
  return trimDashes(cleanLine(decodeHTMLStrict(text.trimStart().slice(0, maxInputLength)), maxTextLength))
}

function truncateTitle(artist: string, title: string) {
  return {
    artist: trimDashes(cleanLine(artist, maxTagLengths.artist)),
    title: trimDashes(cleanLine(title, maxTagLengths.title))
  }
}

const trimDashes = (text: string) => text.replace(/^[\s-]+|[\s-]+$/gu, '')
