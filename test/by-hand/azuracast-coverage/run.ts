import type { Send } from './client.ts'
import { type Json, type OpenApiDocument, type Operation, readDocument } from './document.ts'
import { openJudge, type Received, type Verdict } from './judge.ts'
import { firstMade, type Known, orderOf, type Step, type StepContext, steps } from './plan.ts'
import { findDifferences } from './read-back.ts'
import { sampleOf } from './sample.ts'

/** What one operation answered. */
export interface OperationResult {
  readonly operation: Operation
  readonly verdict: Verdict
  /** Whether the effect of a write was found; a problem if not; null if nothing was checked. */
  readonly effect: true | string | null
  /** What was sent, and a part of the answer. */
  readonly sent: Json
  readonly received: Received | null
}

export interface RunOptions {
  readonly document: OpenApiDocument
  /** The schemas of bodies. */
  readonly bodies: OpenApiDocument['schemas']
  readonly send: Send
  /** The cookie of the person that the operations have made. */
  readonly session: () => Promise<string | undefined>
  /** Ids that are known before the first request: at least `station`. */
  readonly known: Known
  /** The OpenAPI document of the server, which says whether it has an operation. */
  readonly served: string
  readonly onResult?: (result: OperationResult) => void | Promise<void>
}

/**
 * Calls every operation of the document once, in an order in which records are made, read, changed and
 * deleted. Deletes only what it has made.
 */
export async function runOperations(options: RunOptions): Promise<OperationResult[]> {
  const { document, send, session, known, onResult = () => {} } = options
  const judge = openJudge(document)
  const hasRoute = openRoutes(options.served)
  const results: OperationResult[] = []
  for (const operation of inOrder(document.operations)) {
    const result = await runOne(operation)
    await onResult(result)
    results.push(result)
  }
  return results

  async function runOne(operation: Operation): Promise<OperationResult> {
    const step = steps[operation.id] ?? {}
    const { path, unknown } = await resolvePath(operation, step)
    const context: StepContext = { known, send, path }
    if (unknown.length === 0) await step.before?.(context)
    const body = bodyOf(operation, step)
    const key = step.isPersonal && known['personKey'] !== undefined ? String(known['personKey']) : undefined
    // With an id that does not exist, the answer still says whether there is a route.
    const cookie = step.needsSession === true ? await session() : undefined
    const follows =
      operation.response.status < 300 && /^(image|application\/octet)/.test(operation.response.type)
    const received = await send(operation.method, path, { query: step.query, body, key, cookie, follows })
    const sent = body instanceof FormData ? 'form' : body
    const result = { operation, sent, received, effect: null }
    const isAbsent = [404, 405].includes(received.status) && !hasRoute(operation.method, path)
    if (isAbsent) return { ...result, verdict: { kind: 'missing' } }
    if (unknown.length > 0 && received.status !== 501)
      return { ...result, verdict: { kind: 'not sent', problems: [`no ${unknown.join(', ')}`] } }
    const verdict = judge(operation.response, received)
    const hasSucceeded = received.status < 400
    if (hasSucceeded) step.after?.(known, received)
    const isWrite = operation.method !== 'GET' && hasSucceeded
    return {
      ...result,
      verdict,
      effect: isWrite ? await checkEffect(operation, step, context, sent, key) : null
    }
  }

  async function checkEffect(
    operation: Operation,
    step: Step,
    context: StepContext,
    sent: Json,
    key: string | undefined
  ): Promise<true | string | null> {
    if (step.effect === 'unchecked') return null
    if (step.effect !== undefined) return (await step.effect(context)) ?? true
    if (step.kind !== undefined) return readBackCreated(step.kind, sent)
    const reads = document.operations.some(({ method, path }) => method === 'GET' && path === operation.path)
    if (!reads) return null
    const { status, json } = await send('GET', context.path, { key })
    if (operation.method === 'DELETE') return status === 404 || `GET returns ${status} afterward`
    if (operation.method !== 'PUT') return null
    return describeDifferences(sent, json)
  }

  async function readBackCreated(kind: string, sent: Json): Promise<true | string> {
    const reader = document.operations.find(
      ({ method, path, pathParameters }) =>
        method === 'GET' && path.endsWith('{id}') && kindOf(path, pathParameters.at(-1) ?? '') === kind
    )
    if (reader === undefined || known[kind] === undefined) return 'the answer has no id'
    const { path } = await resolvePath(reader, steps[reader.id] ?? {})
    const { status, json } = await send('GET', path)
    return status === 200 ? describeDifferences(sent, json) : `GET returns ${status}`
  }

  async function resolvePath(
    { method, path, pathParameters }: Operation,
    { params = {} }: Step
  ): Promise<{ path: string; unknown: string[] }> {
    const unknown: string[] = []
    let resolved = path
    for (const name of pathParameters) {
      const source = params[name] ?? kindOf(path, name)
      const value = source.startsWith('=')
        ? source.slice(1)
        : (known[source] ?? (method === 'GET' ? await findListed(source) : undefined))
      if (value === undefined) unknown.push(source)
      resolved = resolved.replace(`{${name}}`, encodeURIComponent(String(value ?? 1)))
    }
    return { path: resolved, unknown }
  }

  /** The id of a record that others have made, if its own could not be made. It is only read. */
  async function findListed(kind: string): Promise<string | number | undefined> {
    const list = document.operations.find(({ id }) => steps[id]?.kind === kind)
    if (list === undefined) return undefined
    const { path } = await resolvePath(list, {})
    const { json } = await send('GET', path)
    return Array.isArray(json) ? json[0]?.id : undefined
  }

  function bodyOf(operation: Operation, step: Step): Json {
    const documented =
      operation.body?.type === 'application/json'
        ? sampleOf(operation.body.schema, { schemas: options.bodies })
        : undefined
    return step.body === undefined ? documented : step.body(known, documented ?? {})
  }
}

const describeDifferences = (sent: Json, read: Json): true | string =>
  findDifferences(sent, read).slice(0, 6).join('; ') || true

function inOrder(operations: readonly Operation[]): Operation[] {
  const rank = ({ id }: Operation) => (firstMade.indexOf(id) + 1 || 99) / 100
  return operations.toSorted((a, b) => orderOf(a) + rank(a) - orderOf(b) - rank(b))
}

/** The kind of record that a parameter identifies: the part of the path before it. */
export function kindOf(path: string, name: string): string {
  if (name === 'station_id') return 'station'
  if (name === 'media_id' || name === 'song_id') return 'media'
  const parts = path.split('/')
  const before = parts[parts.indexOf(`{${name}}`) - 1] ?? ''
  return path.startsWith('/admin/station/') ? 'admin/station' : before
}

/** Returns whether a server has a route, by its own OpenAPI document. */
function openRoutes(served: string): (method: string, path: string) => boolean {
  const routes = readDocument(served).operations.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replace(/^\/api/, '').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`)
  }))
  return (method, path) => routes.some(each => each.method === method && each.pattern.test(path))
}
