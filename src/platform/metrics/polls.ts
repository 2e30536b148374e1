import { declareCounters, declareGauge, declareHistogram } from './registry.ts'

/* Metrics of the polls of streaming servers. */

export const pollsMetric = declareCounters(
  'cuewire_polls_total',
  'Polls of streaming servers by outcome; not_stored: a store was unavailable.',
  'outcome',
  ['answered', 'failed', 'not_stored']
)

export const pollDurationMetric = declareHistogram(
  'cuewire_poll_duration_seconds',
  'Time of a poll until its result is stored.',
  [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
)

export const pollsInFlightMetric = declareGauge('cuewire_polls_in_flight', 'Polls without a result.')
