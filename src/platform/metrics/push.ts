import {
  declareCounters,
  declareGauge,
  declareGauges,
  declareHistogram,
  declareSampledGauge
} from './registry.ts'

/* Metrics of sockets, streams and long polls, and of the states that a server follows. */

const transports = ['websocket', 'sse', 'http_stream'] as const
export type TransportName = (typeof transports)[number]

export const connectionsMetric = declareGauges(
  'cuewire_live_connections',
  'Open connections of listeners and widgets.',
  'transport',
  [...transports, 'long_poll']
)

export const connectionLimitMetric = declareGauge(
  'cuewire_live_connections_limit',
  'LIVE_MAX_CONNECTIONS: connections that are admitted.'
)

export const refusalsMetric = declareCounters(
  'cuewire_live_refused_connections_total',
  'Connections that were refused: total, LIVE_MAX_CONNECTIONS was reached; address, LIVE_MAX_CONNECTIONS_PER_ADDRESS; station, LIVE_MAX_CONNECTIONS_PER_STATION.',
  'limit',
  ['total', 'address', 'station']
)

export const subscriptionsMetric = declareGauges(
  'cuewire_live_subscriptions',
  'Channels that clients are subscribed to, by what they get: full publications or deltas.',
  'form',
  ['full', 'delta']
)

export const framesSentMetric = declareCounters(
  'cuewire_live_frames_sent_total',
  'Frames that were sent or buffered.',
  'transport',
  transports
)

export const bytesSentMetric = declareCounters(
  'cuewire_live_sent_bytes_total',
  'Bytes of these frames, without those of the protocols below.',
  'transport',
  transports
)

/** The codes of PROTOCOL.md, and `client`: the client closed the connection. */
export const disconnectsMetric = declareCounters(
  'cuewire_live_disconnects_total',
  'Connections that ended, by the code of the disconnect frame; client: the client left.',
  'code',
  ['client', '1009', '3001', '3004', '3005', '3008', '3010', '3013', '3501', '3502', '3505', '3509']
)

const fanOutBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]

export const fanOutDurationMetric = declareHistogram(
  'cuewire_live_fan_out_duration_seconds',
  'Time from the first to the last subscriber of a channel that a publication was sent to.',
  fanOutBuckets
)

export const commitToFrameMetric = declareHistogram(
  'cuewire_live_commit_to_frame_seconds',
  'Time from the end of a change in Postgres, directly before its commit, until the last subscriber of a channel has its frame.',
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
)

export const feedLagMetric = declareHistogram(
  'cuewire_feed_lag_seconds',
  'Time from storing a change in Redis until this server has its message; includes the difference between the clocks of Redis and Postgres.',
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
)

export const feedAgeMetric = declareGauge(
  'cuewire_feed_checked_age_seconds',
  'Time since all states of this server were known to equal those in Redis.',
  'max'
)

export const feedStationsMetric = declareGauge('cuewire_feed_stations', 'Stations of this server.', 'max')

export const namedStaleStationsMetric = declareSampledGauge(
  'cuewire_feed_stale_station',
  'The first twenty of the stations whose state may be out of date, by short name; always 1.',
  ['station'],
  'max'
)

export const staleStationsMetric = declareGauge(
  'cuewire_feed_stale_stations',
  'Stations whose state may be out of date: Redis is unavailable, or a song that is over was not ended.',
  'max'
)
