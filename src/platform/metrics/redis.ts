import { declareGauge, declareHistogram, declareOpenCounter } from './registry.ts'

/* Metrics of the commands to Redis, without those that wait for jobs and subscriptions. */

export const commandDurationMetric = declareHistogram(
  'cuewire_redis_command_duration_seconds',
  'Time from a command to its answer; evalsha: the scripts of Cuewire and of the job queues.',
  [0.0005, 0.001, 0.0025, 0.01, 0.05, 0.25, 1, 5],
  ['command']
)

export const commandErrorsMetric = declareOpenCounter(
  'cuewire_redis_command_errors_total',
  'Commands that failed, by command.',
  ['command']
)

export const refusedWritesMetric = declareGauge(
  'cuewire_redis_refused_writes_seconds',
  'Time for which Redis has refused the writes of the process, without an outage; 0: it takes them.',
  'max'
)

export const isConnectedMetric = declareGauge(
  'cuewire_redis_connected',
  '1 if the connection to Redis is open, else 0.',
  'min'
)
