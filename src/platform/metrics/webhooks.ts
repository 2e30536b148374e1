import {
  declareCounter,
  declareCounters,
  declareHistogram,
  declareOpenCounter,
  declareSampledGauge
} from './registry.ts'

/* Metrics of deliveries to web hooks. */

export const attemptsMetric = declareOpenCounter(
  'cuewire_webhook_attempts_total',
  'Attempts to deliver, by outcome: delivered, or the reason of the failure.',
  ['outcome']
)

export const attemptDurationMetric = declareHistogram(
  'cuewire_webhook_attempt_duration_seconds',
  'Time of an attempt to deliver.',
  [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
)

export const endedDeliveriesMetric = declareCounters(
  'cuewire_webhook_deliveries_total',
  'Deliveries that ended, by state: failed means failed permanently.',
  'state',
  ['delivered', 'failed', 'merged', 'superseded', 'expired', 'cancelled']
)

export const disabledHooksMetric = declareCounter(
  'cuewire_webhook_disabled_total',
  'Web hooks that were disabled automatically.'
)

export const backlogMetric = declareSampledGauge(
  'cuewire_webhook_backlog_deliveries',
  'Pending deliveries; due: those whose time has come and whose web hook is not paused. At most 10,000 are counted.',
  ['state'],
  'max'
)

export const backlogAgeMetric = declareSampledGauge(
  'cuewire_webhook_backlog_age_seconds',
  'Since when the oldest due delivery is due; 0 if none is.',
  [],
  'max'
)
