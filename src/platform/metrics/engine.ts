import {
  declareCounter,
  declareCounters,
  declareGauge,
  declareHistogram,
  declareOpenCounter
} from './registry.ts'

/* Metrics of what ends songs and changes stations. */

export const advancesMetric = declareOpenCounter(
  'cuewire_engine_advances_total',
  'Attempts to end a play by cause (due, skip, wake) and outcome; advanced: the play was ended.',
  ['cause', 'outcome']
)

export const stepLatenessMetric = declareHistogram(
  'cuewire_engine_step_lateness_seconds',
  'Time from the due time of a song until the next one is published.',
  [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]
)

export const changeDurationMetric = declareHistogram(
  'cuewire_engine_change_duration_seconds',
  'Time of a change of stations from its first statement until it is committed; batch: several stations.',
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  ['kind']
)

export const unpublishedChangesMetric = declareCounter(
  'cuewire_engine_unpublished_changes_total',
  'Committed changes that could not be published at once, which is left to the sweep.'
)

export const sweepDurationMetric = declareHistogram(
  'cuewire_engine_sweep_duration_seconds',
  'Time of a complete sweep.',
  [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
)

/** When the last sweep of this process ended, by `performance.now()`; null before the first. */
export const lastSweep: { endedAtMs: number | null } = { endedAtMs: null }

export const sweepAgeMetric = declareGauge(
  'cuewire_engine_sweep_age_seconds',
  'Time since the last complete sweep of this process, or since its start.',
  'min'
)

export const repairsMetric = declareCounters(
  'cuewire_engine_sweep_repairs_total',
  'What the sweep repaired: overdue, plays that no job has ended; early, plays that began in the future; woken, silent stations that play again; state, live states that differed from the facts.',
  'kind',
  ['overdue', 'early', 'woken', 'state']
)

export const listenerReportsMetric = declareCounters(
  'cuewire_listener_reports_total',
  'Attempts to count a report of listeners, by outcome; missing, outdated: it is tried again.',
  'outcome',
  ['counted', 'unchanged', 'refused', 'missing', 'outdated']
)

export const flushedStationsMetric = declareCounter(
  'cuewire_listener_flushes_total',
  'Stations whose listener counts were written to Postgres.'
)
