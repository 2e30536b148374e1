/*
 * The artists that a text names, as `docs/autodj.md` lists the rules. All texts are normalized; names are returned in
 * one form, so that `Beatles, The` and `The Beatles` are one artist.
 */

/** Separates artists wherever it is. */
const separators = /;| (?:\/|feat\.?|ft\.?|featuring|vs\.?)(?= |$)/
const and = / &(?= |$)/
/** In a text with a comma, `and` joins the last artist of a list; `Florence and the Machine` is one. */
const lastInList = / (?:&|and)(?= |$)/
/** A guest in brackets: `Alpha (feat. Beta)`. */
const bracketedGuest = / [([]((?:feat\.?|ft\.?|featuring) [^()[\]]+)[)\]]/g

const comma = /,(?= |$)/
/** Articles that follow a name after a comma. */
const articles = /^(?:the|die|der|das|le|la|les|el|los|las)$/
/** What follows the name of a person, without its dots. */
const suffixes = /^(?:jr|sr|ii|iii|iv|phd|md|esq)$/
const suffixed = /^(.+) (jr|sr|ii|iii|iv|phd|md|esq)$/

/**
 * Splits a text into the names of its artists, possibly with repeats. Where a comma can be read in two ways, such as in
 * `Earth, Wind & Fire`, there are names of both readings: a name too many only ever repeats itself.
 */
export function splitArtists(text: string): string[] {
  return text.replace(bracketedGuest, ' $1').split(separators).flatMap(splitList)
}

/** The one form of the name of an artist. */
export function normalizeArtistName(name: string): string {
  const pieces = splitAtCommas(name)
  return isOneName(pieces) ? reorderName(pieces) : pieces.join(', ')
}

function splitList(text: string): string[] {
  const members = text.split(text.includes(', ') ? lastInList : and).map(splitAtCommas)
  if (members.every(pieces => isOneName(pieces))) return members.map(reorderName)
  const names = members.flat()
  if (members.every(pieces => pieces.length < 2)) return names
  // `Tyler, The Creator & Alpha`, and the whole as the name of a band.
  const joined = members.flatMap(pieces =>
    pieces.flatMap((name, at) => (at > 0 && name.startsWith('the ') ? [`${name} ${pieces[at - 1]}`] : []))
  )
  return [...names, ...joined, normalizeArtistName(text)]
}

/** `Last, First`: one comma, and a single word before or after it. */
const isOneName = (pieces: readonly string[]) =>
  pieces.length === 2 && pieces.some(piece => !piece.includes(' '))

/** `First Last Suffix` of `Last, First Suffix`. */
function reorderName(pieces: readonly string[]): string {
  const [last = '', first = ''] = pieces
  const [, name = first, suffix = ''] = suffixed.exec(first) ?? []
  return `${name} ${last} ${suffix}`.trim()
}

/** The pieces between commas; an article or suffix is joined to the name before it. */
function splitAtCommas(text: string): string[] {
  const names: string[] = []
  for (const piece of text.split(comma).map(part => part.trim())) {
    const before = names.at(-1)
    const suffix = piece.replaceAll('.', '')
    if (before !== undefined && articles.test(piece)) names.splice(-1, 1, `${piece} ${before}`)
    else if (before !== undefined && suffixes.test(suffix)) names.splice(-1, 1, `${before} ${suffix}`)
    else if (piece !== '') names.push(piece.replace(/ ([js]r)\.$/, ' $1'))
  }
  return names
}
