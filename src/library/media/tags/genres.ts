import { id3Genres } from './id3-genres.ts'

const maxReferences = 20

/** Resolves the numbers of ID3: `17` and `(17)` are `Rock`, `(4)Eurodisco` is `Disco` and `Eurodisco`. */
export function splitGenres(text: string): string[] {
  const genres: string[] = []
  let rest = text.trim()
  for (let reference = 0; reference < maxReferences; reference += 1) {
    const [whole, code = ''] = /^\((\d{1,3}|RX|CR)\)/.exec(rest) ?? []
    if (whole === undefined) break
    const genre = genreOf(code)
    if (genre !== undefined) genres.push(genre)
    rest = rest.slice(whole.length).trim()
  }
  // `((Foo)` is a genre that starts with a parenthesis.
  const name = rest.startsWith('((') ? rest.slice(1) : rest
  if (name !== '') genres.push((/^\d{1,3}$/.test(name) && genres.length === 0 ? genreOf(name) : null) ?? name)
  return genres
}

function genreOf(code: string): string | undefined {
  if (code === 'RX') return 'Remix'
  return code === 'CR' ? 'Cover' : id3Genres[Number(code)]
}
