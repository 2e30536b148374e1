import { ChildProcess } from 'node:child_process'

import { Counter, Gauge, Registry } from 'prom-client'
import { expect, test } from 'vitest'

import { openChildMetrics } from '../../../../src/platform/metrics/child-metrics.ts'

/** A child process with these values, which does not answer if they are null. */
class RespondingChild extends ChildProcess {
  override readonly connected = true
  readonly #registry: Registry | null
  isSilent = false

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
    if (this.isSilent) return true
    void this.#registry?.getMetricsAsJSON().then(metrics => {
      this.emit('message', 'an unrelated message')
      this.emit('message', JSON.parse(JSON.stringify({ type: 'metrics', id, metrics })))
    })
    return true
  }
}

const open = (...values: ConstructorParameters<typeof RespondingChild>[0][]) => {
  const metrics = openChildMetrics(50)
  const children = values.map(each => new RespondingChild(each))
  for (const child of children) metrics.add(child)
  return { metrics, children }
}

test('the metrics of children are merged, without those that never answered', async () => {
  const { metrics, children } = open({ requests: 3, age: 1 }, { requests: 4, age: 5 }, null, {
    requests: 90,
    age: 90
  })
  children[3]?.emit('exit')
  const text = await metrics.collect()
  expect(text).toContain('requests_total{status="200",process="server"} 7')
  expect(text).toContain('age_seconds{process="server"} 5')
  expect(text).toContain('cuewire_supervised_processes{state="answering"} 2')
  expect(text).toContain('cuewire_supervised_processes{state="silent"} 1')
})

test('counters never fall: a child that is silent or has exited counts with its last answer', async () => {
  const { metrics, children } = open(
    { requests: 3, age: 1 },
    { requests: 4, age: 5 },
    { requests: 20, age: 9 }
  )
  const [, silent, exiting] = children
  await metrics.collect()
  if (silent) silent.isSilent = true
  exiting?.emit('exit')
  for (let scrapes = 0; scrapes < 3; scrapes++) {
    const text = await metrics.collect()
    expect(text).toContain('requests_total{status="200",process="server"} 27')
    expect(text).toContain('age_seconds{process="server"} 1')
    expect(text).toContain('cuewire_supervised_processes{state="silent"} 1')
  }
  if (silent) silent.isSilent = false
  expect(await metrics.collect()).toContain('requests_total{status="200",process="server"} 27')
})
