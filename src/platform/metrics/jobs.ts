import { declareSampledGauge } from './registry.ts'

/* Metrics of the job queues, which every workers process reads from Redis; all show the same. */

export const jobsMetric = declareSampledGauge(
  'cuewire_jobs',
  'Jobs by queue (advance: ends of songs; deliver: web hooks) and state.',
  ['queue', 'state'],
  'max'
)

export const jobLatenessMetric = declareSampledGauge(
  'cuewire_jobs_lateness_seconds',
  'How late the most overdue job is; 0 if none is late by two seconds.',
  ['queue'],
  'max'
)

export const jobWorkersMetric = declareSampledGauge(
  'cuewire_jobs_workers',
  'Workers processes that are connected to the queue.',
  ['queue'],
  'max'
)
