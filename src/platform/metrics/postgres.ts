import { declareCounter, declareHistogram, declareOpenCounter, declareSampledGauge } from './registry.ts'

/* Metrics of the connections to Postgres and of the statements on them. */

/** How the connections of a pool are used. */
export interface PoolUse {
  readonly idle: number
  readonly busy: number
  readonly connecting: number
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number
}

const pools = new Map<string, () => PoolUse>()

/** Adds a pool to the metrics; one of the same name is replaced. */
export function addPoolMetrics(name: string, use: () => PoolUse): void {
  pools.set(name, use)
}

const connections = declareSampledGauge(
  'cuewire_postgres_connections',
  'Connections to Postgres by pool and state.',
  ['pool', 'state']
)
connections.read = () =>
  [...pools].flatMap(([pool, use]) => {
    const { idle, busy, connecting } = use()
    return [
      [{ pool, state: 'idle' }, idle],
      [{ pool, state: 'busy' }, busy],
      [{ pool, state: 'connecting' }, connecting]
    ] as const
  })

const waiting = declareSampledGauge(
  'cuewire_postgres_waiting_queries',
  'Statements and transactions that wait for a connection of the pool.',
  ['pool']
)
waiting.read = () => [...pools].map(([pool, use]) => [{ pool }, use().waiting] as const)

export const queryDurationMetric = declareHistogram(
  'cuewire_postgres_query_duration_seconds',
  'Time from sending a statement to its result, by kind and first table: "update stations".',
  [0.001, 0.0025, 0.01, 0.05, 0.25, 1, 5],
  ['statement']
)

export const closedConnectionsMetric = declareCounter(
  'cuewire_postgres_closed_connections_total',
  'Connections that ended, and attempts to connect that failed. Each connection is replaced within an hour.'
)

export const queryErrorsMetric = declareOpenCounter(
  'cuewire_postgres_query_errors_total',
  'Statements that failed, by class of SQLSTATE; connection: the connection was lost.',
  ['class']
)
