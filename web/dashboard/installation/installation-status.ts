import { html } from 'lit'

import type { GetHealthAnswer, GetQueuesAnswer } from '../api/responses.ts'

/** The state of the installation; without a key, only that of the live state is known. */
export type InstallationHealth = Pick<GetHealthAnswer, 'live_state'> &
  Partial<Pick<GetHealthAnswer, 'postgres' | 'redis'>>

export type QueueStatus = GetQueuesAnswer['queues'][number]

/** A queue; a newer server may have more of them. */
type KnownQueue = Omit<QueueStatus, 'name' | 'active'> & { readonly name: string }

export interface InstallationStatus {
  /** Null until it is known. */
  readonly health: InstallationHealth | null
  readonly queues: readonly KnownQueue[]
  /** Why the health could not be read; '' if it could. */
  readonly healthError: string
}

/** The banner above every view; empty if there is no problem. */
export const installationStatusView = (status: InstallationStatus) =>
  html`<div class="status-banner" role="status">
    ${describeInstallationProblems(status).map(text => html`<p class="status-text">${text}</p>`)}
  </div>`

const outdated = 'The information shown may be out of date'

/** Describes the problems of the installation in sentences, the worst first. */
export function describeInstallationProblems({
  health: parts,
  queues: all,
  healthError
}: InstallationStatus): string[] {
  if (healthError !== '') return [`${healthError} ${outdated}.`]
  const problems: string[] = []
  if (parts?.redis === 'down') problems.push(`Redis is not responding. ${outdated}.`)
  if (parts?.redis === 'read-only') problems.push(`Redis is read-only. ${outdated}.`)
  if (parts?.postgres === 'down')
    problems.push(`Postgres is not responding. ${outdated}, and nothing can be changed.`)
  if (parts?.live_state === 'stale' && (parts.redis ?? 'up') === 'up')
    problems.push(`The server receives no updates of the stations. ${outdated}.`)
  return [...problems, ...all.flatMap(describeQueueProblems)]
}

function describeQueueProblems({ name, workers, late_ms: lateMs }: KnownQueue): string[] {
  const effects = queueEffects[name]
  if (effects === undefined) return []
  if (workers === 0) return [`No worker is running: ${effects.down}.`]
  return lateMs > 0 ? [`Workers are ${formatLateness(lateMs)}: ${effects.late}.`] : []
}

const queueEffects: Readonly<Record<string, { readonly down: string; readonly late: string }>> = {
  advance: { down: 'songs do not change', late: 'songs change late' },
  deliver: { down: 'web hooks are not delivered', late: 'web hooks are delivered late' }
}

/** `12 s behind` */
export function formatLateness(lateMs: number): string {
  const seconds = Math.ceil(lateMs / 1_000)
  return seconds < 120 ? `${seconds} s behind` : `${Math.floor(seconds / 60)} min behind`
}
