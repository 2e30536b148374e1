import { declareGauge, declareSampledGauge } from './registry.ts'

/* Metrics of alerts and of what they are about. Every workers process shows the same alerts, and its own machine. */

export const openAlertsMetric = declareSampledGauge(
  'cuewire_alerts',
  'Alerts that are raised and not resolved, by kind: backup-failed, backup-missing, certificate, disk-full, stations-stale, station-silent, and so on.',
  ['kind'],
  'max'
)

export const undeliveredAlertsMetric = declareSampledGauge(
  'cuewire_alert_messages_failed',
  'Messages about alerts that did not arrive at the first attempt, and are tried again.',
  [],
  'max'
)

export const backupAgeMetric = declareSampledGauge(
  'cuewire_backup_age_seconds',
  'Time since the last scheduled backup that was written; absent before the first one.',
  [],
  'min'
)

export const certificateEndMetric = declareGauge(
  'cuewire_certificate_expiry_timestamp_seconds',
  'When the certificate of BASE_URL ends, in Unix time; absent without TLS, or if the address does not answer.',
  'min'
)

export const diskFreeMetric = declareSampledGauge(
  'cuewire_disk_free_bytes',
  'Free bytes of the volumes of DATA_DIR and of local storage locations.',
  ['path'],
  'min'
)

export const diskSizeMetric = declareSampledGauge(
  'cuewire_disk_size_bytes',
  'Sizes of these volumes.',
  ['path'],
  'min'
)
