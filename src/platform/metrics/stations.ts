import { declareGauge, declareOpenCounter } from './registry.ts'

/* Metrics of work that fails for single stations. */

export const stationFailuresMetric = declareOpenCounter(
  'cuewire_station_failures_total',
  'Failures of work for one station, by task. The other stations are not affected.',
  ['task']
)

export const failingStationsMetric = declareGauge(
  'cuewire_failing_stations',
  'Stations for which some work of this process failed the last time it was tried.',
  'max'
)
