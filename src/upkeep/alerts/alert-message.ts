import * as v from 'valibot'

/** Lists are cut off at this length; the counts are complete. */
const maxListed = 50

const listed = v.object({
  /** Identifies the alert: `disk-full:radio1:/srv`. */
  alert: v.string(),
  title: v.string(),
  /** Empty if it is resolved. */
  body: v.string(),
  /** When it was raised. */
  since: v.string()
})
const list = v.object({ count: v.number(), alerts: v.array(listed) })

/** What has changed since the message before. */
export const alertContent = v.object({
  raised: list,
  /** Announced before, and not resolved. */
  reminded: list,
  resolved: list
})

export type ListedAlert = v.InferOutput<typeof listed>
export type AlertContent = v.InferOutput<typeof alertContent>

/** Where the alerts come from. */
export interface AlertSender {
  readonly name: string
  readonly url: string
}

/** Lists alerts, the first of many. */
export const limitListedAlerts = (alerts: readonly ListedAlert[]): AlertContent['raised'] => ({
  count: alerts.length,
  alerts: alerts.slice(0, maxListed)
})

/** Renders the body of the request to ALERT_URL. `at`: when the message was composed. */
export function renderAlertBody(content: AlertContent, sender: AlertSender, at: string): string {
  return JSON.stringify({ type: 'alerts', at, installation: sender, ...content })
}

/** Renders the mail. */
export function renderAlertMail(content: AlertContent, sender: AlertSender) {
  const { raised, reminded, resolved } = content
  const [what, first] =
    raised.count > 0
      ? (['Alert', raised] as const)
      : reminded.count > 0
        ? (['Still open', reminded] as const)
        : (['Resolved', resolved] as const)
  const title = (first.alerts[0]?.title ?? '').replace(/\s+/g, ' ')
  const others = raised.count + reminded.count + resolved.count - 1
  const more = others > 0 ? ` (and ${others} more)` : ''
  const sections = [
    renderSection('Raised:', raised),
    renderSection('Still open:', reminded),
    renderSection('Resolved:', resolved)
  ]
  const end = `These alerts are on the console, too: ${sender.url}`
  return {
    subject: `[${sender.name.replace(/\s+/g, ' ')}] ${what}: ${title}${more}`,
    text: [...sections.filter(text => text !== ''), end].join('\n\n')
  }
}

function renderSection(heading: string, { count, alerts }: AlertContent['raised']): string {
  if (count === 0) return ''
  const lines = alerts.map(({ title, body, since }) =>
    [`- ${title}`, ...(body === '' ? [] : [`  ${body}`]), `  since ${since}`].join('\n')
  )
  const left = count - alerts.length
  return [heading, ...lines, ...(left > 0 ? [`and ${left} more`] : [])].join('\n')
}
