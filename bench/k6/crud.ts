import { check } from 'k6'
import exec from 'k6/execution'
import http, { type RefinedResponse, type ResponseType } from 'k6/http'
import { Counter, Trend } from 'k6/metrics'

import { readCount, renderTrends, type Summary, trendStats } from './summary.ts'

/**
 * The k6 script of `npm run bench -- crud`. Sends requests at a constant rate, regardless of responses; four
 * of five are reads, most of them by id. The requests use several keys, because a key may write 100 times a
 * second. All created records are named `k6 ...` and are deleted at the end.
 */
// k6 defines this name.
// oxlint-disable-next-line no-underscore-dangle
declare const __ENV: Readonly<Record<string, string | undefined>>

const { BASE_URL: baseUrl = '' } = __ENV
const keys = (__ENV['KEYS'] ?? '').split(',')
const stations = (__ENV['STATIONS'] ?? '').split(',')
const rate = Number(__ENV['RATE'] ?? 1_000)
const seconds = Number(__ENV['SECONDS'] ?? 60)

const warmUpSeconds = 5
const recordsEach = 20
/** A virtual user with more records of its own deletes the oldest instead of creating another. */
const maxOwnRecords = 1

interface Resource {
  readonly list: string
  readonly item: string
  readonly body: (tag: string) => object
  /** GJSON path of the ids of the records in a list that this script created. */
  readonly createdIds: string
}

const resources: Resource[] = [
  ...stations.flatMap(station => [
    {
      list: `/api/station/${station}/playlists`,
      item: `/api/station/${station}/playlist`,
      body: (tag: string) => ({ name: `k6 ${tag}`, is_enabled: false, weight: 5 }),
      createdIds: '#(name%"k6 *")#.id'
    },
    {
      list: `/api/station/${station}/hls_streams`,
      item: `/api/station/${station}/hls_stream`,
      body: (tag: string) => ({ name: `/k6-${tag}`, display_name: `k6 ${tag}`, autodj_bitrate: 128 }),
      createdIds: '#(display_name%"k6 *")#.id'
    }
  ]),
  // Custom fields exist once for all stations, so they are a small share of the requests.
  {
    list: '/api/admin/custom_fields',
    item: '/api/admin/custom_field',
    body: (tag: string) => ({ name: `k6 ${tag}`, short_name: `k6_${tag.replace(/\W/g, '_')}` }),
    createdIds: '#(name%"k6 *")#.id'
  }
]

const operations = {
  'read by id': new Trend('read_by_id', true),
  'read a list': new Trend('read_a_list', true),
  create: new Trend('create', true),
  update: new Trend('update', true),
  delete: new Trend('delete', true)
}
type Operation = keyof typeof operations
const metricOf = (operation: string) => operation.replaceAll(' ', '_')
/** Requests that were not sent because all virtual users were waiting for responses. */
const droppedMetric = 'dropped_iterations{scenario:crud}'
const failed = new Counter('failed')

const arrivals = {
  executor: 'constant-arrival-rate',
  exec: 'step',
  rate,
  timeUnit: '1s',
  preAllocatedVUs: 50,
  maxVUs: 500
}

export const options = {
  scenarios: {
    'warm-up': { ...arrivals, duration: `${warmUpSeconds}s` },
    crud: { ...arrivals, startTime: `${warmUpSeconds}s`, duration: `${seconds}s` }
  },
  thresholds: {
    read_by_id: ['p(50)<2'],
    failed: ['count==0'],
    [droppedMetric]: ['count==0']
  },
  summaryTrendStats: trendStats,
  setupTimeout: '60s',
  teardownTimeout: '120s'
}

/** Creates the records that all virtual users read. Returns their ids, per resource. */
export function setup(): number[][] {
  return resources.map((resource, index) =>
    Array.from({ length: recordsEach }, (_, record) => {
      const body = JSON.stringify(resource.body(`base-${index}-${record}`))
      return idOf(requireSuccess(http.post(baseUrl + resource.list, body, params('setup', 'create'))))
    })
  )
}

interface OwnRecord {
  readonly resource: Resource
  readonly id: number
}
const own: OwnRecord[] = []

export function step(ids: number[][]): void {
  const index = Math.floor(Math.random() * resources.length)
  const resource = resources[index]
  const id = pick(ids[index] ?? [])
  if (!resource || id === undefined) return
  const chance = Math.random()
  if (chance < 0.65) {
    recordResponse(
      'read by id',
      http.get(`${baseUrl}${resource.item}/${id}`, params(resource.item, 'read by id'))
    )
  } else if (chance < 0.8) {
    recordResponse('read a list', http.get(baseUrl + resource.list, params(resource.list, 'read a list')))
  } else if (chance < 0.87) {
    const body = JSON.stringify(resource.body(`base-${index}-${ids[index]?.indexOf(id)}`))
    recordResponse(
      'update',
      http.put(`${baseUrl}${resource.item}/${id}`, body, params(resource.item, 'update'))
    )
  } else if (own.length > maxOwnRecords) deleteOldest()
  else create(resource)
}

function create(resource: Resource): void {
  const tag = `${exec.scenario.name}-${exec.scenario.iterationInTest}`
  const response = http.post(
    baseUrl + resource.list,
    JSON.stringify(resource.body(tag)),
    params(resource.list, 'create')
  )
  if (recordResponse('create', response)) own.push({ resource, id: idOf(response) })
}

function deleteOldest(): void {
  const oldest = own.shift()
  if (!oldest) return
  const { item } = oldest.resource
  recordResponse('delete', http.del(`${baseUrl}${item}/${oldest.id}`, null, params(item, 'delete')))
}

export function teardown(): void {
  for (const { list, item, createdIds } of resources) {
    const ids = requireSuccess(http.get(baseUrl + list, params('teardown', 'read a list'))).json(createdIds)
    for (const id of Array.isArray(ids) ? ids : [])
      requireSuccess(http.del(`${baseUrl}${item}/${Number(id)}`, null, params('teardown', 'delete')))
  }
}

/** Replaces the summary of k6 with a table. */
export function handleSummary(summary: Summary) {
  return {
    stdout: [
      '',
      renderTrends(
        summary,
        { before: ['ms', 'requests'] },
        Object.keys(operations).map(name => {
          const metric = metricOf(name)
          return { before: [name, readCount(summary, metric)], metric }
        })
      ),
      `  not 200: ${readCount(summary, 'failed')}, dropped by k6: ${readCount(summary, droppedMetric)}`,
      ''
    ].join('\n')
  }
}

/**
 * Counts responses that are not 200, and records the duration after the warm-up. Returns whether it is 200.
 */
function recordResponse(operation: Operation, response: RefinedResponse<ResponseType | undefined>): boolean {
  const isSuccess = response.status === 200
  if (!isSuccess) failed.add(1)
  if (exec.scenario.name === 'crud') operations[operation].add(response.timings.duration)
  return check(response, { 'status is 200': () => isSuccess })
}

function requireSuccess<Body extends ResponseType | undefined>(
  response: RefinedResponse<Body>
): RefinedResponse<Body> {
  const { request, status, url, body } = response
  const reason = typeof body === 'string' ? body : ''
  if (status !== 200) exec.test.abort(`${request.method} ${url}: ${status} ${reason}`)
  return response
}

function idOf(response: RefinedResponse<ResponseType | undefined>): number {
  return Number(response.json('id'))
}

function params(name: string, operation: Operation) {
  return {
    headers: { 'X-API-Key': pick(keys) ?? '', 'Content-Type': 'application/json' },
    tags: { name, operation },
    timeout: '10s'
  }
}

function pick<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)]
}
