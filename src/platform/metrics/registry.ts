import { type Aggregator, Counter, Gauge, Histogram, Registry } from 'prom-client'

/*
 * How metrics are declared. The files beside this one declare all metrics, one file for each area. The code that is
 * measured imports them and counts in plain fields, which are read when Prometheus scrapes the process: a field that is
 * raised costs a nanosecond, a call of the library a hundred.
 */

/** All metrics of this process. */
export const metricsRegistry = new Registry()

const registers = [metricsRegistry]

/** A counter: raise `value`. */
export interface CountedValue {
  value: number
}

/** Declares a counter without labels. */
export function declareCounter(name: string, help: string): CountedValue {
  const counted = { value: 0 }
  const counter: Counter = new Counter({
    name,
    help,
    registers,
    collect: () => {
      counter.reset()
      counter.inc(counted.value)
    }
  })
  return counted
}

/** Declares a counter with one label, whose values are known: raise the member of a value. */
export const declareCounters = <Value extends string>(...of: ByLabel<Value>): Record<Value, number> =>
  declareByLabel(options => new Counter(options), ...of)

/** Declares a gauge with one label, whose values are known: set the member of a value. */
export const declareGauges = <Value extends string>(...of: ByLabel<Value>): Record<Value, number> =>
  declareByLabel(options => new Gauge(options), ...of)

type ByLabel<Value extends string> = [name: string, help: string, label: string, values: readonly Value[]]

interface LabeledOptions {
  readonly name: string
  readonly help: string
  readonly labelNames: string[]
  readonly registers: Registry[]
  readonly collect: () => void
}

interface LabeledMetric {
  readonly reset: () => void
  readonly inc: (labels: Record<string, string>, value: number) => void
}

function declareByLabel<Value extends string>(
  open: (options: LabeledOptions) => LabeledMetric,
  ...[name, help, label, values]: ByLabel<Value>
): Record<Value, number> {
  const counts = zeros(values)
  const metric = open({
    name,
    help,
    labelNames: [label],
    registers,
    collect: () => {
      metric.reset()
      for (const value of values) metric.inc({ [label]: value }, counts[value])
    }
  })
  return counts
}

/**
 * Declares a counter whose label values are not known in advance; the caller bounds their number. `collect` may add
 * to it before each scrape.
 */
export function declareOpenCounter<Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
  collect: (counter: Counter<Label>) => void = () => {}
): Counter<Label> {
  const counter: Counter<Label> = new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers,
    collect: () => collect(counter)
  })
  return counter
}

/** A gauge: set `read`. Without it, the process does not expose the metric. */
export interface ReadGauge {
  read: (() => number) | null
}

/** Declares a gauge that is read at each scrape. `aggregator`: how several server processes are merged. */
export function declareGauge(name: string, help: string, aggregator: Aggregator = 'sum'): ReadGauge {
  const given: ReadGauge = { read: null }
  const gauge: Gauge = new Gauge({
    name,
    help,
    aggregator,
    registers,
    collect: () => {
      if (given.read === null) gauge.remove()
      else gauge.set(given.read())
    }
  })
  return given
}

/** The samples of a gauge with labels, as one scrape reads them. */
type Sample<Label extends string> = readonly [labels: Readonly<Record<Label, string>>, value: number]

/** A gauge with labels: set `read`, which may take up to a scrape's timeout. */
export interface SampledGauge<Label extends string> {
  read: (() => readonly Sample<Label>[] | Promise<readonly Sample<Label>[]>) | null
}

/** Declares a gauge with labels that is read at each scrape. A failed read leaves its samples out. */
export function declareSampledGauge<Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
  aggregator: Aggregator = 'sum'
): SampledGauge<Label> {
  const given: SampledGauge<Label> = { read: null }
  const gauge: Gauge = new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    aggregator,
    registers,
    collect: async () => {
      gauge.reset()
      // A gauge without labels has the value 0 after a reset.
      if (labelNames.length === 0) gauge.remove()
      const samples = await Promise.resolve(given.read?.() ?? []).catch(() => [])
      for (const [labels, value] of samples) gauge.set(labels, value)
    }
  })
  return given
}

/** Declares a histogram of seconds. Observe events that take far longer than 150 ns each. */
export function declareHistogram<Label extends string = never>(
  name: string,
  help: string,
  buckets: readonly number[],
  labelNames: readonly Label[] = []
): Histogram<Label> {
  return new Histogram({ name, help, buckets: [...buckets], labelNames: [...labelNames], registers })
}

function zeros<Value extends string>(values: readonly Value[]): Record<Value, number> {
  const counts: Partial<Record<Value, number>> = {}
  for (const value of values) counts[value] = 0
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every member was set
  return counts as Record<Value, number>
}
