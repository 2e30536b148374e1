import type { Patience } from './next-delivery.ts'

const newest = new Set([
  'tunein',
  'radiode',
  'radioreg',
  'getmeradio',
  'google_analytics_v4',
  'matomo_analytics'
])
const every = new Set(['generic', 'email'])

/** How long news is news to receivers of a type: directories want what plays now, people what is not long ago. */
export function patienceOf(type: string): Patience {
  if (newest.has(type)) return 'newest'
  return every.has(type) ? 'every' : 'hour'
}
