import { announceAlerts } from '../src/alerts/announce.ts'
import { updateCertificateAlert } from '../src/alerts/certificate-alert.ts'
import { channelsOf, type SendAlertDeps, sendAlerts } from '../src/alerts/send-alerts.ts'
import { updateStaleStationsAlert } from '../src/alerts/stale-stations.ts'
import type { Config } from '../src/config.ts'
import { openAlerts, undeliveredMessages } from '../src/metrics/alerts.ts'
import { toNetworkList } from '../src/outbound/networks.ts'
import type { PlayoutServices } from '../src/playout/services.ts'
import { engineTimeMs } from '../src/runtime/engine-time.ts'
import { repeat } from '../src/runtime/repeat.ts'
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
