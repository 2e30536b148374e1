import type { ChildProcess } from 'node:child_process'

import { AggregatorRegistry, Gauge, type Registry } from 'prom-client'

/*
 * Server processes share a port, so a scrape would reach any one of them. Their parent asks each of them for its
 * metrics over the IPC channel, and merges the answers. (prom-client does this for processes of `node:cluster` only.)
 */

/** Metrics as they are sent from process to process. */
type CollectedMetrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** What the parent sends. */
interface MetricsRequest {
  readonly type: 'metrics-request'
  readonly id: number
}

/** What a child answers; `metrics` null: they could not be collected. */
interface MetricsResponse {
  readonly type: 'metrics'
  readonly id: number
  readonly metrics: CollectedMetrics | null
}

const hasType = (message: unknown, type: string): boolean =>
  typeof message === 'object' && message !== null && 'type' in message && message.type === type

const isRequest = (message: unknown): message is MetricsRequest => hasType(message, 'metrics-request')
const isMetricsResponse = (message: unknown): message is MetricsResponse => hasType(message, 'metrics')

/** Answers the parent of this process. Returns the function that stops it. */
export function answerMetricsParent(registry: Registry): () => Promise<void> {
  const onMessage = (message: unknown) => {
    if (isRequest(message)) void respond(message)
  }
  async function respond({ id }: MetricsRequest): Promise<void> {
    const metrics = await collectNumbers(registry).catch(() => null)
    const reply: MetricsResponse = { type: 'metrics', id, metrics }
    // The parent may have closed the channel.
    if (process.connected) process.send?.(reply, undefined, undefined, () => {})
  }
  process.on('message', onMessage)
  return async () => void process.off('message', onMessage)
}

/** Collects metrics without values that JSON cannot express, such as the mean of no values. */
async function collectNumbers(registry: Registry): Promise<CollectedMetrics> {
  const metrics = await registry.getMetricsAsJSON()
  return metrics.map(metric => ({
    ...metric,
    values: metric.values.filter(({ value }) => Number.isFinite(value))
  }))
}

/** Less than the timeout of a scrape. */
const responseTimeoutMs = 3_000

/** What may only grow: Prometheus takes a smaller number for a restart, and would count the rest again. */
const countersOf = (metrics: CollectedMetrics): CollectedMetrics =>
  // The types of prom-client declare a number here, which it does not send.
  metrics.filter(({ type }) => ['counter', 'histogram'].includes(String(type)))

/** The child processes whose metrics are merged. */
export function openChildMetrics(timeoutMs = responseTimeoutMs) {
  /** With their last answer. */
  const children = new Map<ChildProcess, CollectedMetrics>()
  /** The counters of those that have exited. */
  const ended: CollectedMetrics[] = []
  const pending = new Map<number, (metrics: MetricsResponse['metrics']) => void>()
  let lastId = 0

  /** Returns null if the child does not answer in time. */
  async function ask(child: ChildProcess): Promise<MetricsResponse['metrics']> {
    const id = ++lastId
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise(resolve => {
        pending.set(id, resolve)
        timer = setTimeout(() => resolve(null), timeoutMs)
        const request: MetricsRequest = { type: 'metrics-request', id }
        child.send(request, error => error && resolve(null))
      })
    } finally {
      clearTimeout(timer)
      pending.delete(id)
    }
  }

  return {
    /** Adds a child until it exits. */
    add: (child: ChildProcess): void => {
      children.set(child, [])
      child.once('exit', () => {
        ended.push(countersOf(children.get(child) ?? []))
        children.delete(child)
      })
      child.on('message', (message: unknown) => {
        if (isMetricsResponse(message)) pending.get(message.id)?.(message.metrics)
      })
    },
    /**
     * Returns the metrics of all children in the text format: counters and histograms are summed, other values merged
     * as their metric declares. A child that does not answer, or has exited, counts with the counters of its last
     * answer.
     */
    collect: async (): Promise<string> => {
      const asked = [...children.keys()]
      const responses = await Promise.all(asked.map(async child => (child.connected ? ask(child) : null)))
      const known = asked.flatMap((child, index) => {
        const response = responses[index]
        // It has exited meanwhile, and is among those.
        const last = children.get(child)
        if (!last) return []
        if (!response) return [countersOf(last)]
        children.set(child, response)
        return [response]
      })
      const sum = await AggregatorRegistry.aggregate(ended.splice(0)).getMetricsAsJSON()
      ended.unshift(sum)
      const merged = AggregatorRegistry.aggregate([...known, sum])
      const responding = responses.filter(response => response !== null).length
      const processes = new Gauge({
        name: 'cuewire_supervised_processes',
        help: 'Server and workers processes of this program by state; silent: no answer within three seconds.',
        labelNames: ['state'],
        registers: [merged]
      })
      processes.set({ state: 'answering' }, responding)
      processes.set({ state: 'silent' }, asked.length - responding)
      return merged.metrics()
    }
  }
}
