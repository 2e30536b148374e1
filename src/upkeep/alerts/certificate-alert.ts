import { certificateEndMetric } from '../../platform/metrics/alerts.ts'
import { readCertificateEnd } from '../../platform/outbound/certificate.ts'
import { raiseAlert, resolveAlert } from '../../stores/db/notifications.ts'
import type { Sql } from '../../stores/db/sql.ts'

const alertKey = 'certificate'
const dayMs = 86_400_000
/** Certificates are renewed 30 days before their end; a month of failures is noticed here. */
export const certificateWarningDays = 14

/**
 * Notifies operators if the certificate of BASE_URL ends soon, and resolves that when it was renewed. If the address
 * does not answer, nothing is known and nothing changes.
 */
export async function updateCertificateAlert(sql: Sql, baseUrl: string, signal: AbortSignal): Promise<void> {
  if (!baseUrl.startsWith('https:')) await resolveAlert(sql, alertKey)
  const endMs = await readCertificateEnd(baseUrl, signal)
  certificateEndMetric.read = endMs === null ? null : () => endMs / 1_000
  if (endMs === null) return
  const days = Math.floor((endMs - Date.now()) / dayMs)
  if (days >= certificateWarningDays) {
    await resolveAlert(sql, alertKey)
    return
  }
  await raiseAlert(sql, {
    key: alertKey,
    title: `The certificate of ${new URL(baseUrl).host} ends soon`,
    body: `It is valid until ${new Date(endMs).toISOString().slice(0, 10)}. Then browsers and players refuse to connect. Check that it is renewed (certbot renew), and that the proxy loads it.`,
    type: 'danger',
    source: 'system'
  })
}
