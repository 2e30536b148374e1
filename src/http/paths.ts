import type { Route } from '../api/core/route.ts'

/** The routes of one path by method, what `Allow` says of them, and the decoded parameters. */
export interface PathMatch<Services> {
  readonly methods: ReadonlyMap<string, Route<Services>>
  readonly allow: string
  readonly params: Readonly<Record<string, string>>
}

interface Leaf<Services> {
  readonly methods: Map<string, Route<Services>>
  readonly paramNames: readonly string[]
  allow: string
}

interface Node<Services> {
  readonly named: Map<string, Node<Services>>
  /** By what follows the parameter inside its segment (`.json`), longest first. */
  readonly parameters: Map<string, Node<Services>>
  leaf: Leaf<Services> | null
}

const order = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']

/**
 * Compiles routes into a look-up of raw paths. Segments are split before they are decoded, so `%2f` stays
 * inside its parameter; a written segment wins over a parameter, and one with text after its name
 * (`:id.json`) over one without. The look-up gives null for an unknown path, an empty parameter or a broken
 * percent escape. Two routes of the same method and path throw.
 */
export function compilePaths<Services>(
  routes: readonly Route<Services>[]
): (path: string) => PathMatch<Services> | null {
  const root = openNode<Services>()
  for (const route of routes) insert(root, route)
  return path => {
    const segments = path.split('/')
    const values: string[] = []
    const leaf = find(root, segments, 1, values)
    return leaf === null ? null : matchOf(leaf, values)
  }
}

function openNode<Services>(): Node<Services> {
  return { named: new Map(), parameters: new Map(), leaf: null }
}

function insert<Services>(root: Node<Services>, route: Route<Services>): void {
  const paramNames: string[] = []
  let node = root
  for (const segment of route.path.split('/').slice(1)) {
    const [, name, suffix] = /^:(\w+)(.*)$/.exec(segment) ?? []
    if (name !== undefined && suffix !== undefined) {
      paramNames.push(name)
      node = parameterOf(node, suffix)
    } else {
      const next = node.named.get(segment) ?? openNode<Services>()
      node.named.set(segment, next)
      node = next
    }
  }
  node.leaf ??= { methods: new Map(), paramNames, allow: '' }
  const { methods } = node.leaf
  if (methods.has(route.method)) throw new Error(`${route.method} ${route.path} is declared twice`)
  if (node.leaf.paramNames.join() !== paramNames.join())
    throw new Error(`${route.path} names its parameters differently than its other methods`)
  methods.set(route.method, route)
  const isAllowed = (method: string) =>
    method === 'OPTIONS' || methods.has(method === 'HEAD' ? 'GET' : method)
  node.leaf.allow = order.filter(isAllowed).join(', ')
}

function parameterOf<Services>({ parameters }: Node<Services>, suffix: string): Node<Services> {
  const known = parameters.get(suffix)
  if (known) return known
  const added = openNode<Services>()
  const all = [...parameters, [suffix, added] as const].toSorted(([a], [b]) => b.length - a.length)
  parameters.clear()
  for (const [each, node] of all) parameters.set(each, node)
  return added
}

function find<Services>(
  node: Node<Services>,
  segments: readonly string[],
  at: number,
  values: string[]
): Leaf<Services> | null {
  const segment = segments[at]
  if (segment === undefined) return node.leaf
  const named = node.named.get(segment)
  const written = named === undefined ? null : find(named, segments, at + 1, values)
  if (written !== null) return written
  for (const [suffix, next] of node.parameters) {
    if (segment.length <= suffix.length || !segment.endsWith(suffix)) continue
    values.push(segment.slice(0, segment.length - suffix.length))
    const leaf = find(next, segments, at + 1, values)
    if (leaf !== null) return leaf
    values.pop()
  }
  return null
}

function matchOf<Services>(leaf: Leaf<Services>, values: readonly string[]): PathMatch<Services> | null {
  const params: Record<string, string> = {}
  for (const [index, name] of leaf.paramNames.entries()) {
    const value = decode(values[index] ?? '')
    if (value === null) return null
    params[name] = value
  }
  return { methods: leaf.methods, allow: leaf.allow, params }
}

function decode(segment: string): string | null {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
