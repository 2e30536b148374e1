import { openAlertsMetric, undeliveredAlertsMetric } from '../src/platform/metrics/alerts.ts'
import { toNetworkList } from '../src/platform/outbound/networks.ts'
import { engineTimeMs } from '../src/platform/runtime/engine-time.ts'
import { announceAlerts } from '../src/upkeep/alerts/announce.ts'
import { listAlertChannels, type SendAlertDeps, sendAlerts } from '../src/upkeep/alerts/send-alerts.ts'
import { updateStaleStationsAlert } from '../src/upkeep/alerts/stale-stations.ts'
import { openMailer } from '../src/webhooks/deliveries/mailer.ts'
import type { TaskLoop, TaskServices } from './task.ts'

/** Raises the alerts of the whole installation, and sends messages of all alerts. */
export function openAlertLoop({ sql, log, config }: TaskServices): TaskLoop {
  const {
    BASE_URL: baseUrl,
    SMTP_URL: smtp,
    ALERT_MAIL: to = null,
    ALERT_URL: url,
    ALERT_SECRET: secret
  } = config
  const deps: SendAlertDeps = {
    sql,
    log,
    baseUrl,
    mail:
      smtp === undefined || to?.includes('off') ? null : { mailer: openMailer(smtp, config.MAIL_FROM), to },
    post: url === undefined || secret === undefined ? null : { url, secret },
    allowed: toNetworkList(config.WEBHOOK_ALLOWED_NETWORKS)
  }
  const options = { channels: listAlertChannels(deps) }
  openAlertsMetric.read = async () => {
    const rows = await sql<{ kind: string; count: number }[]>`
      select split_part(fact, ':', 1) as kind, count(*)::int as count from open_facts group by 1 order by 1 limit 100`
    return rows.map(({ kind, count }) => [{ kind }, count] as const)
  }
  undeliveredAlertsMetric.read = async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from alert_messages where attempts > 1`
    return [[{}, row?.count ?? 0]]
  }
  return async signal => {
    await updateStaleStationsAlert(sql, engineTimeMs())
    if (options.channels.length === 0) return
    await announceAlerts(sql, options)
    await sendAlerts(deps, signal)
  }
}
