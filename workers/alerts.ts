import type { Config } from '../src/config.ts'
import type { PlayoutServices } from '../src/engine/services.ts'
import { openAlerts, undeliveredMessages } from '../src/platform/metrics/alerts.ts'
import { toNetworkList } from '../src/platform/outbound/networks.ts'
import { engineTimeMs } from '../src/platform/runtime/engine-time.ts'
import { repeat } from '../src/platform/runtime/repeat.ts'
import { announceAlerts } from '../src/upkeep/alerts/announce.ts'
import { updateCertificateAlert } from '../src/upkeep/alerts/certificate-alert.ts'
import { channelsOf, type SendAlertDeps, sendAlerts } from '../src/upkeep/alerts/send-alerts.ts'
import { updateStaleStationsAlert } from '../src/upkeep/alerts/stale-stations.ts'
import { openMailer } from '../src/webhooks/deliveries/mailer.ts'

const alertsMs = 10_000
const certificateMs = 3_600_000

type Deps = Pick<PlayoutServices, 'sql' | 'log'> & { readonly config: Config }

/** Raises the alerts of the whole installation, and sends messages of all alerts. */
export function startAlerts({ sql, log, config }: Deps) {
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
  const options = { channels: channelsOf(deps) }
  const messages = repeat(
    async signal => {
      await updateStaleStationsAlert(sql, engineTimeMs())
      if (options.channels.length === 0) return
      await announceAlerts(sql, options)
      await sendAlerts(deps, signal)
    },
    { pauseMs: alertsMs, log, failure: 'sending alerts failed' }
  )
  const certificate = repeat(signal => updateCertificateAlert(sql, baseUrl, signal), {
    pauseMs: certificateMs,
    log,
    failure: 'checking the certificate of BASE_URL failed'
  })
  openAlerts.read = async () => {
    const rows = await sql<{ kind: string; count: number }[]>`
      select split_part(fact, ':', 1) as kind, count(*)::int as count from open_facts group by 1 order by 1 limit 100`
    return rows.map(({ kind, count }) => [{ kind }, count] as const)
  }
  undeliveredMessages.read = async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from alert_messages where attempts > 1`
    return [[{}, row?.count ?? 0]]
  }
  return { stop: async () => void (await Promise.all([messages.stop(), certificate.stop()])) }
}
