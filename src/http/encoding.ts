/** The content codings that are offered, best first. */
export const encodings = ['br', 'gzip'] as const

export type Encoding = (typeof encodings)[number]

/** What clients have asked for lately: there are few different headers. */
const known = new Map<string, Encoding | null>()
const maxKnown = 64

/** The coding that an `Accept-Encoding` header likes best; null: as it is. Never one it does not name or imply. */
export function chooseEncoding(header: string): Encoding | null {
  if (header === '') return null
  const before = known.get(header)
  if (before !== undefined) return before
  const chosen = choose(header)
  if (known.size >= maxKnown) known.clear()
  known.set(header, chosen)
  return chosen
}

function choose(header: string): Encoding | null {
  const qualities = new Map(header.toLowerCase().split(',').map(qualityOf))
  const others = qualities.get('*') ?? 0
  const qualityFor = (encoding: Encoding) => qualities.get(encoding) ?? others
  const best = Math.max(...encodings.map(qualityFor))
  // Unnamed, `identity` is welcome, but less than what is asked for.
  const plain = qualities.get('identity') ?? 0
  if (best === 0 || best < plain) return null
  return encodings.find(encoding => qualityFor(encoding) === best) ?? null
}

/** One element of the header; a quality that makes no sense counts as none at all. */
function qualityOf(element: string): [name: string, quality: number] {
  const [name = '', ...parameters] = element.split(';').map(part => part.trim())
  const weight = parameters.find(parameter => parameter.startsWith('q='))
  if (weight === undefined) return [name, 1]
  return [name, /^q=(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight.slice(2)) : 0]
}
