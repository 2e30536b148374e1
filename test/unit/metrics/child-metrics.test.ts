import { ChildProcess } from 'node:child_process'

import { Counter, Gauge, Registry } from 'prom-client'
import { expect, test } from 'vitest'

import { openChildMetrics } from '../../../src/metrics/child-metrics.ts'

/** A child process with these values, which does not answer if they are null. */
class AnsweringChild extends ChildProcess {
  override readonly connected = true
  readonly #registry: Registry | null

  constructor(values: { requests: number; age: number } | null) {
    super()
    this.#registry = values && new Registry()
    if (!values || !this.#registry) return
    const registers = [this.#registry]
    this.#registry.setDefaultLabels({ process: 'server' })
    new Counter({ name: 'requests_total', help: 'Requests.', labelNames: ['status'], registers }).inc(
      { status: '200' },
      values.requests
    )
    new Gauge({ name: 'age_seconds', help: 'Age.', aggregator: 'max', registers }).set(values.age)
  }

  override send(message: object): boolean {
    const id = 'id' in message ? message.id : 0
    void this.#registry?.getMetricsAsJSON().then(metrics => {
      this.emit('message', 'an unrelated message')
      this.emit('message', JSON.parse(JSON.stringify({ type: 'metrics', id, metrics })))
    })
    return true
  }
}

test('the metrics of children are merged; one that does not answer or has exited is left out', async () => {
  const metrics = openChildMetrics(50)
  const children = [{ requests: 3, age: 1 }, { requests: 4, age: 5 }, null, { requests: 90, age: 90 }].map(
    values => new AnsweringChild(values)
  )
  for (const child of children) metrics.add(child)
  children[3]?.emit('exit')
  const text = await metrics.collect()
  expect(text).toContain('requests_total{status="200",process="server"} 7')
  expect(text).toContain('age_seconds{process="server"} 5')
})
