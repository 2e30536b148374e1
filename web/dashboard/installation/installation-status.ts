import * as v from 'valibot'

/**
 * Whether the parts of the installation are there, `api/health`; strangers are told of the live state only.
 */
export const health = v.object({
  live_state: v.string(),
  postgres: v.optional(v.string(), 'up'),
  redis: v.optional(v.string(), 'up')
})
export type Health = v.InferOutput<typeof health>

/** What workers have to do, and whether they do it in time, `api/queues`. */
export const queues = v.object({
  queues: v.array(
    v.object({
      name: v.string(),
      workers: v.number(),
      waiting: v.number(),
      delayed: v.number(),
      overdue: v.optional(v.number(), 0),
      late_ms: v.optional(v.number(), 0)
    })
  )
})
export type Queue = v.InferOutput<typeof queues>['queues'][number]

/** How the installation is, as far as that is known. */
export interface InstallationStatus {
  readonly health: Health | null
  readonly queues: readonly Queue[]
  /** Why it could not be found out; empty: it could. */
  readonly silence: string
}

const isOld = 'what is shown may be old'

/** What is wrong with the installation, in sentences, worst first. */
export function installationProblems({ health: parts, queues: all, silence }: InstallationStatus): string[] {
  if (silence !== '') return [`${silence} What is shown may be old.`]
  const said: string[] = []
  if (parts?.redis === 'down') said.push(`Redis does not answer: ${isOld}.`)
  if (parts?.redis === 'read-only') said.push(`Redis takes no writes: ${isOld}.`)
  if (parts?.postgres === 'down') said.push(`Postgres does not answer: ${isOld}, and nothing can be done.`)
  if (parts?.live_state === 'stale' && parts.redis === 'up')
    said.push(`The server hears nothing of the stations: ${isOld}.`)
  return [...said, ...all.flatMap(queueTroubles)]
}

function queueTroubles({ name, workers, late_ms: lateMs }: Queue): string[] {
  const words = queueWords[name]
  if (words === undefined) return []
  if (workers === 0) return [`No worker is there: ${words.idle}.`]
  return lateMs > 0 ? [`Workers are ${lateText(lateMs)}: ${words.late}.`] : []
}

const queueWords: Readonly<Record<string, { readonly idle: string; readonly late: string }>> = {
  advance: { idle: 'songs do not end', late: 'songs do not end in time' },
  deliver: { idle: 'web hooks are not told', late: 'web hooks are not told in time' }
}

/** `late by 12 s` */
export function lateText(lateMs: number): string {
  const seconds = Math.ceil(lateMs / 1_000)
  return seconds < 120 ? `late by ${seconds} s` : `late by ${Math.floor(seconds / 60)} min`
}
