import { check } from 'k6'
import exec from 'k6/execution'
import http, { type RefinedResponse, type ResponseType } from 'k6/http'
import { Counter, Trend } from 'k6/metrics'

/**
 * A k6 script, started by `npm run bench -- crud`: requests come at a constant rate whether answers do or
 * not, four of five are reads, most of them by id. Several keys share the writes, because each may write 100
 * times a second. What it makes is named `k6 ...`, and all of that is deleted at the end.
 */
// k6 names it so.
// oxlint-disable-next-line no-underscore-dangle
declare const __ENV: Readonly<Record<string, string | undefined>>

const { BASE_URL: baseUrl = '' } = __ENV
const keys = (__ENV['KEYS'] ?? '').split(',')
const stations = (__ENV['STATIONS'] ?? '').split(',')
const rate = Number(__ENV['RATE'] ?? 1_000)
const seconds = Number(__ENV['SECONDS'] ?? 60)

const warmUpSeconds = 5
const recordsEach = 20
/** A virtual user keeps this many records of its own before it deletes the oldest. */
const ownAtMost = 1

interface Resource {
  readonly list: string
  readonly item: string
  readonly body: (tag: string) => object
  /** Finds the ids of what this script made in a list, by GJSON. */
  readonly made: string
}

const resources: Resource[] = [
  ...stations.flatMap(station => [
    {
      list: `/api/station/${station}/playlists`,
      item: `/api/station/${station}/playlist`,
      body: (tag: string) => ({ name: `k6 ${tag}`, is_enabled: false, weight: 5 }),
      made: '#(name%"k6 *")#.id'
    },
    {
      list: `/api/station/${station}/hls_streams`,
      item: `/api/station/${station}/hls_stream`,
      body: (tag: string) => ({ name: `/k6-${tag}`, display_name: `k6 ${tag}`, autodj_bitrate: 128 }),
      made: '#(display_name%"k6 *")#.id'
    }
  ]),
  // One of many: custom fields are few, and a change of one shows on every station.
  {
    list: '/api/admin/custom_fields',
    item: '/api/admin/custom_field',
    body: (tag: string) => ({ name: `k6 ${tag}`, short_name: `k6_${tag.replace(/\W/g, '_')}` }),
    made: '#(name%"k6 *")#.id'
  }
]

const operations = {
  'read by id': new Trend('read_by_id', true),
  'read list': new Trend('read_list', true),
  create: new Trend('create', true),
  update: new Trend('update', true),
  delete: new Trend('delete', true)
}
type Operation = keyof typeof operations
const refused = new Counter('refused')

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
    refused: ['count==0'],
    'dropped_iterations{scenario:crud}': ['count==0']
  },
  summaryTrendStats: ['count', 'med', 'p(95)', 'p(99)', 'max'],
  setupTimeout: '60s',
  teardownTimeout: '120s'
}

/** The ids that everybody reads, per resource. */
export function setup(): number[][] {
  return resources.map((resource, index) =>
    Array.from({ length: recordsEach }, (_, record) => {
      const body = JSON.stringify(resource.body(`base-${index}-${record}`))
      return idOf(must(http.post(baseUrl + resource.list, body, params('setup', 'create'))))
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
    measured('read by id', http.get(`${baseUrl}${resource.item}/${id}`, params(resource.item, 'read by id')))
  } else if (chance < 0.8) {
    measured('read list', http.get(baseUrl + resource.list, params(resource.list, 'read list')))
  } else if (chance < 0.87) {
    const body = JSON.stringify(resource.body(`base-${index}-${ids[index]?.indexOf(id)}`))
    measured('update', http.put(`${baseUrl}${resource.item}/${id}`, body, params(resource.item, 'update')))
  } else if (own.length > ownAtMost) deleteOldest()
  else create(resource)
}

function create(resource: Resource): void {
  const tag = `${exec.scenario.name}-${exec.scenario.iterationInTest}`
  const response = http.post(
    baseUrl + resource.list,
    JSON.stringify(resource.body(tag)),
    params(resource.list, 'create')
  )
  if (measured('create', response)) own.push({ resource, id: idOf(response) })
}

function deleteOldest(): void {
  const oldest = own.shift()
  if (!oldest) return
  const { item } = oldest.resource
  measured('delete', http.del(`${baseUrl}${item}/${oldest.id}`, null, params(item, 'delete')))
}

export function teardown(): void {
  for (const { list, item, made } of resources) {
    const ids = must(http.get(baseUrl + list, params('teardown', 'read list'))).json(made)
    for (const id of Array.isArray(ids) ? ids : [])
      must(http.del(`${baseUrl}${item}/${Number(id)}`, null, params('teardown', 'delete')))
  }
}

interface Summary {
  readonly metrics: Readonly<
    Record<string, { readonly values: Readonly<Record<string, number>> } | undefined>
  >
}

/** A short table instead of k6's own. */
export function handleSummary({ metrics }: Summary) {
  const counted = (name: string) => metrics[name]?.values['count'] ?? 0
  const rows = Object.keys(operations).map(name => {
    const values = metrics[name.replaceAll(' ', '_')]?.values ?? {}
    const times = ['med', 'p(95)', 'p(99)', 'max'].map(each => (values[each]?.toFixed(2) ?? '-').padStart(9))
    return `  ${name.padEnd(12)}${String(values['count'] ?? 0).padStart(9)}${times.join('')}`
  })
  return {
    stdout: [
      `CRUD at ${rate} requests/s for ${seconds} s, ${stations.length} stations, ${keys.length} keys`,
      `  ${'ms'.padEnd(12)}${['requests', 'p50', 'p95', 'p99', 'max'].map(name => name.padStart(9)).join('')}`,
      ...rows,
      `  not 200: ${counted('refused')}, not sent in time: ${counted('dropped_iterations{scenario:crud}')}`,
      ''
    ].join('\n')
  }
}

/** Counts what was not answered 200; times are kept after the warm-up only. */
function measured(operation: Operation, response: RefinedResponse<ResponseType | undefined>): boolean {
  const isDone = response.status === 200
  if (!isDone) refused.add(1)
  if (exec.scenario.name === 'crud') operations[operation].add(response.timings.duration)
  return check(response, { 'answered 200': () => isDone })
}

function must<Body extends ResponseType | undefined>(response: RefinedResponse<Body>): RefinedResponse<Body> {
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
