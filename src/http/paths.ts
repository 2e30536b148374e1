import { decodePercent } from '../platform/text/percent-encoding.ts'
import type { Route } from './route.ts'

interface Leaf<R extends Route> {
  readonly methods: Map<string, R>
  readonly paramNames: readonly string[]
  /** The value of `Allow`. */
  allow: string
}

interface PathNode<R extends Route> {
  readonly literals: Map<string, PathNode<R>>
  /** By the text after the parameter in its segment (`.json`), longest first. */
  readonly parameters: { readonly suffix: string; readonly node: PathNode<R> }[]
  leaf: Leaf<R> | null
}

const order = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Compiles routes into a lookup of raw paths. Segments are split before they are decoded, so `%2f` stays
 * inside its parameter. A literal segment wins over a parameter, and a parameter with a suffix (`:id.json`)
 * over one without. The lookup returns null for an unknown path, an empty parameter or an invalid percent
 * escape. Throws for two routes with the same method and path.
 */
export function compileRoutePaths<R extends Route>(routes: readonly R[]) {
  const root = openNode<R>()
  for (const route of routes) insert(root, route)
  return (path: string) => {
    const segments = path.split('/')
    const values: string[] = []
    const leaf = find(root, segments, 1, values)
    return leaf === null ? null : buildMatch(leaf, values)
  }
}

function openNode<R extends Route>(): PathNode<R> {
  return { literals: new Map(), parameters: [], leaf: null }
}

function insert<R extends Route>(root: PathNode<R>, route: R): void {
  const paramNames: string[] = []
  let node = root
  for (const segment of route.path.split('/').slice(1)) {
    const [, name, suffix] = /^:(\w+)(.*)$/.exec(segment) ?? []
    if (name !== undefined && suffix !== undefined) {
      paramNames.push(name)
      node = ensureParameter(node, suffix)
    } else {
      const next = node.literals.get(segment) ?? openNode<R>()
      node.literals.set(segment, next)
      node = next
    }
  }
  node.leaf ??= { methods: new Map(), paramNames, allow: '' }
  const { methods } = node.leaf
  if (methods.has(route.method)) throw new Error(`${route.method} ${route.path} is declared twice`)
  if (node.leaf.paramNames.join() !== paramNames.join())
    throw new Error(`${route.path} names its parameters differently than its other methods`)
  methods.set(route.method, route)
  const isListed = (method: string) => methods.has(method) && methods.get(method)?.onlyIn === undefined
  const isAllowed = (method: string) => method === 'OPTIONS' || isListed(method === 'HEAD' ? 'GET' : method)
  node.leaf.allow = order.filter(isAllowed).join(', ')
}

function ensureParameter<R extends Route>({ parameters }: PathNode<R>, suffix: string): PathNode<R> {
  const known = parameters.find(each => each.suffix === suffix)
  if (known) return known.node
  const node = openNode<R>()
  parameters.push({ suffix, node })
  parameters.sort((a, b) => b.suffix.length - a.suffix.length)
  return node
}

function find<R extends Route>(
  node: PathNode<R>,
  segments: readonly string[],
  at: number,
  values: string[]
): Leaf<R> | null {
  const segment = segments[at]
  if (segment === undefined) return node.leaf
  const literal = node.literals.get(segment)
  const leafOfLiteral = literal === undefined ? null : find(literal, segments, at + 1, values)
  if (leafOfLiteral !== null) return leafOfLiteral
  for (const { suffix, node: next } of node.parameters) {
    if (segment.length <= suffix.length || !segment.endsWith(suffix)) continue
    values.push(segment.slice(0, segment.length - suffix.length))
    const leaf = find(next, segments, at + 1, values)
    if (leaf !== null) return leaf
    values.pop()
  }
  return null
}

function buildMatch<R extends Route>(leaf: Leaf<R>, values: readonly string[]) {
  const params: Record<string, string> = {}
  for (const [index, name] of leaf.paramNames.entries()) {
    const value = decodePercent(values[index] ?? '')
    if (value === null) return null
    params[name] = value
  }
  return { methods: leaf.methods, allow: leaf.allow, params }
}

/** Removes the slashes of clients that join a path to a base URL with a slash at its end. */
export const removeRepeatedSlashes = (path: string): string => path.replace(/\/{2,}/g, '/')

/** Removes the slashes at the end of a path. */
export const removeTrailingSlashes = (path: string): string => path.replace(/\/+$/, '')
