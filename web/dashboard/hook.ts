import * as v from 'valibot'

const named = v.object({ key: v.string(), value: v.union([v.string(), v.number(), v.boolean(), v.null()]) })

/** What of a web hook is shown, `api/station/{id}/webhooks`. */
export const hooks = v.array(
  v.pipe(
    v.object({
      id: v.number(),
      name: v.string(),
      type: v.string(),
      is_enabled: v.boolean(),
      triggers: v.array(v.string()),
      metadata: v.array(named)
    }),
    v.transform(({ metadata, ...hook }) => {
      const values = new Map(metadata.map(({ key, value }) => [key, value]))
      const count = (key: string) => Number(values.get(key) ?? 0)
      return {
        ...hook,
        state: String(values.get('state') ?? ''),
        lastSentAt: count('last_message_sent'),
        failures: count('consecutive_failures'),
        pending: count('pending')
      }
    })
  )
)

export type Hook = v.InferOutput<typeof hooks>[number]

/** A delivery of a hook with its last attempt. */
export const deliveries = v.object({
  total: v.number(),
  rows: v.array(
    v.object({
      id: v.number(),
      happened_at: v.number(),
      triggers: v.array(v.string()),
      state: v.string(),
      attempts: v.number(),
      attempted_at: v.number(),
      status: v.number(),
      error: v.string(),
      duration_ms: v.number(),
      response: v.string(),
      next_attempt: v.number()
    })
  )
})

export type Delivery = v.InferOutput<typeof deliveries>['rows'][number]

/** The page that ends with the oldest of so many, which are told newest first. */
export const oldestPage = (count: number, rows: number): number => Math.max(1, Math.ceil(count / rows))

/** The one that was tried last; null where none was. */
export function lastAttempted(found: readonly Delivery[]): Delivery | null {
  const tried = found.filter(({ attempted_at: at }) => at > 0)
  return tried.toSorted((one, other) => other.attempted_at - one.attempted_at)[0] ?? null
}

/** What came of a test. */
export const testResult = v.object({
  success: v.boolean(),
  message: v.string(),
  sent: v.array(v.object({ method: v.string(), url: v.string(), body: v.string() })),
  received: v.object({
    status: v.number(),
    error: v.string(),
    duration_ms: v.number(),
    response: v.string()
  })
})

export type TestResult = v.InferOutput<typeof testResult>
