import type { Violation } from './violation.ts'

/** A request that arrived at the receiver of web hooks. */
export interface ReceivedRequest {
  readonly hookId: number
  readonly messageId: string
  /** The current play in its document. */
  readonly shId: number
  readonly triggers: readonly string[]
  readonly wasAccepted: boolean
}

/** A row of `webhook_deliveries`. */
export interface DeliveryRow {
  readonly hookId: number
  readonly messageId: string
  readonly fact: string
  readonly state: string
  /** Pending, although its next attempt is due. */
  readonly isOverdue: boolean
}

export interface DeliveryContext {
  readonly stationId: number
  readonly hookId: number
  /** Plays that must each have raised `song_changed`. */
  readonly shIds: readonly number[]
  /** Whether triggers may exist for removed plays: provisional ones that a report replaced. */
  readonly mayReplacePlays: boolean
}

/**
 * Checks the requests of a web hook: each play was sent under exactly one `webhook-id`, each request belongs
 * to a logged delivery, each delivery logged as delivered arrived, and none is overdue. Returns all
 * violations.
 */
export function judgeDeliveries(
  received: readonly ReceivedRequest[],
  rows: readonly DeliveryRow[],
  { stationId, hookId, shIds, mayReplacePlays }: DeliveryContext
): Violation[] {
  const found: Violation[] = []
  const report = (rule: string, detail: string) =>
    found.push({ rule, stationId, detail: `web hook ${hookId}: ${detail}` })
  const own = received.filter(each => each.hookId === hookId)
  const ownRows = rows.filter(each => each.hookId === hookId)
  const byMessage = new Map(ownRows.map(row => [row.messageId, row]))
  const byFact = new Map(ownRows.map(row => [row.fact, row]))
  const accepted = new Set(own.filter(each => each.wasAccepted).map(({ messageId }) => messageId))

  const shIdOf = new Map<string, number>()
  const messageOf = new Map<number, string>()
  for (const { messageId, shId, triggers } of own) {
    if (!byMessage.has(messageId)) report('no trigger invented', `${messageId} is not in the delivery log`)
    const shownBefore = shIdOf.get(messageId)
    if (shownBefore !== undefined && shownBefore !== shId)
      report('one webhook-id for a trigger', `${messageId} showed play ${shownBefore}, then ${shId}`)
    shIdOf.set(messageId, shId)
    if (!triggers.includes('song_changed')) continue
    const sentBefore = messageOf.get(shId)
    if (sentBefore !== undefined && sentBefore !== messageId)
      report('one webhook-id for a trigger', `play ${shId} was sent as ${sentBefore} and as ${messageId}`)
    messageOf.set(shId, messageId)
  }
  for (const shId of shIds)
    if (!byFact.has(`song:${shId}`)) report('no trigger lost', `play ${shId} was never sent`)
  if (!mayReplacePlays) {
    const known = new Set(shIds.map(shId => `song:${shId}`))
    for (const { fact } of ownRows)
      if (fact.startsWith('song:') && !known.has(fact)) report('no trigger invented', `${fact} has no play`)
  }
  for (const { messageId, state, fact } of ownRows) {
    if (state === 'delivered' && !accepted.has(messageId))
      report('no trigger lost', `${messageId} (${fact}) is logged as delivered but was not received`)
  }
  const overdue = ownRows.filter(({ isOverdue }) => isOverdue)
  const [first] = overdue
  if (first)
    report('no trigger lost', `${overdue.length} are overdue, first ${first.messageId} (${first.fact})`)
  return found
}
