import { declareGauge, declareHistogram, declareOpenCounter } from './registry.ts'

/* Metrics of HTTP requests. A group of routes is a tag of the API documentation: `web_hooks`. */

/** Answers to GETs of now playing from memory (`hot-gets.ts`), of which nothing else is measured. */
export const hotResponseCounts = { found: 0, notModified: 0 }

/** Answers that the counter has already. */
const added = { found: 0, notModified: 0 }

export const responsesMetric = declareOpenCounter(
  'cuewire_http_requests_total',
  'Answered requests by group of routes and status.',
  ['group', 'status'],
  counter => {
    const group = 'now_playing'
    counter.inc({ group, status: '200' }, hotResponseCounts.found - added.found)
    counter.inc({ group, status: '304' }, hotResponseCounts.notModified - added.notModified)
    Object.assign(added, hotResponseCounts)
  }
)

export const responseTimeMetric = declareHistogram(
  'cuewire_http_request_duration_seconds',
  'Time from the end of a request until the response begins, without long polls and without now playing from memory.',
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  ['group']
)

export const requestsInFlightMetric = declareGauge(
  'cuewire_http_requests_in_flight',
  'Requests without a complete response, long polls included.'
)

/** The name of a group for a tag of the documentation; pages have none. */
export const routeGroupOf = (tag: string | undefined) => (tag ?? 'pages').toLowerCase().replaceAll(' ', '_')

/** Requests whose path or method no route has. */
export const noRouteGroup = 'none'
