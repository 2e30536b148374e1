import type { BlockList } from 'node:net'

import * as v from 'valibot'

import { FetchFault, guardedFetch } from '../../platform/outbound/guarded-fetch.ts'
import type { Logger } from '../../platform/runtime/log.ts'
import { describeError } from '../../platform/runtime/store-errors.ts'
import { readInstallationSettings } from '../../stores/db/installation-settings.ts'
import type { Sql } from '../../stores/db/sql.ts'
import type { Mailer } from '../../webhooks/deliveries/mailer.ts'
import { signatureHeaders } from '../../webhooks/types/signature.ts'
import { alertContent, renderAlertBody, renderAlertMail, type AlertSender } from './alert-message.ts'
import type { AlertChannel } from './announce.ts'

export interface SendAlertDeps {
  readonly sql: Sql
  readonly log: Logger
  readonly baseUrl: string
  /** `mailer` is null, or nobody wants mails: none are sent. `to` is null: to the administrators. */
  readonly mail: { readonly mailer: Mailer; readonly to: readonly string[] | null } | null
  readonly post: { readonly url: string; readonly secret: string } | null
  /** Private networks that the URL may be in. */
  readonly allowed: BlockList
}

const sendMs = 10_000
/** A message that has not arrived after this many hours is dropped: a reminder follows. */
const keptHours = 24
const maxRecipients = 50

/** The channels that are configured. */
export const listAlertChannels = ({ mail, post }: Pick<SendAlertDeps, 'mail' | 'post'>): AlertChannel[] => [
  ...(mail === null ? [] : (['mail'] as const)),
  ...(post === null ? [] : (['url'] as const))
]

/**
 * Sends the messages that are due, and removes those that arrived. Any number of processes may call it. A message that
 * failed is tried again after one minute, two, four, up to an hour. Returns the number of messages that arrived.
 */
export async function sendAlerts(deps: SendAlertDeps, signal: AbortSignal): Promise<number> {
  const { sql, log } = deps
  let arrived = 0
  while (!signal.aborted) {
    const message = await dequeueMessage(deps)
    if (message === null) break
    try {
      await sendMessage(deps, message, signal)
      await sql`delete from alert_messages where id = ${message.id}`
      arrived++
    } catch (error) {
      signal.throwIfAborted()
      const reason = error instanceof FetchFault ? error.message : describeError(error)
      log.warn({ reason, channel: message.channel }, 'a message about alerts did not arrive; retrying')
    }
  }
  const dropped = await sql`
    delete from alert_messages where created_at < clock_timestamp() - make_interval(hours => ${keptHours})`
  if (dropped.count > 0) log.error({ messages: dropped.count }, 'messages about alerts never arrived')
  return arrived
}

interface Message {
  readonly id: string
  readonly channel: AlertChannel
  readonly content: unknown
  readonly at: string
}

/** Takes the next message, which is due again later unless it is removed. */
async function dequeueMessage({ sql, ...deps }: SendAlertDeps): Promise<Message | null> {
  const [row] = await sql<Message[]>`
    update alert_messages set attempts = attempts + 1,
      next_attempt_at = clock_timestamp() + least(power(2, attempts), 60) * interval '1 minute'
    where id = (
      select id from alert_messages
      where next_attempt_at <= clock_timestamp() and channel = any(${listAlertChannels(deps)}::text[])
      order by created_at limit 1 for update skip locked)
    returning id, channel, content, to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at`
  return row ?? null
}

async function sendMessage(
  { sql, baseUrl, mail, post, allowed, log }: SendAlertDeps,
  { id, channel, at, content: stored }: Message,
  signal: AbortSignal
): Promise<void> {
  const content = v.parse(alertContent, stored)
  const { instance_name: name } = await readInstallationSettings(sql)
  const sender: AlertSender = { name: name || 'Cuewire', url: baseUrl }
  const messageId = `alert_${id}`
  if (channel === 'mail' && mail !== null) {
    const to = mail.to ?? (await readAdministrators(sql))
    if (to.length > 0) await mail.mailer.send({ to, ...renderAlertMail(content, sender) }, messageId, sendMs)
    else log.warn('no mail about alerts: nobody with an account is an administrator; set ALERT_MAIL')
  }
  if (channel === 'url' && post !== null) {
    const body = renderAlertBody(content, sender, at)
    const signed = signatureHeaders({ id: messageId, at: Math.floor(Date.now() / 1_000), body }, [
      post.secret
    ])
    const headers = { 'content-type': 'application/json', ...signed }
    const { status } = await guardedFetch(post.url, {
      method: 'POST',
      headers,
      body,
      allowed,
      signal,
      timeoutMs: sendMs,
      maxBytes: 65_536,
      whenTooLarge: 'truncate'
    })
    if (status < 200 || status > 299) throw new Error(`ALERT_URL answers ${status}`)
  }
}

/** The addresses of the accounts that may do everything. */
async function readAdministrators(sql: Sql): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    select email from users u where u.stations is null and exists (
      select from user_roles ur join roles r on r.id = ur.role_id
      where ur.user_id = u.id and r.permissions ? 'administer all')
    order by id limit ${maxRecipients}`
  return rows.map(({ email }) => email)
}
