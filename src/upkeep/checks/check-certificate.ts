import { readCertificateEnd } from '../../platform/outbound/certificate.ts'
import { certificateWarningDays } from '../alerts/certificate-alert.ts'
import { type Finding, okFinding, problemFinding, warningFinding } from './finding.ts'

const dayMs = 86_400_000

/** Checks how long the certificate of BASE_URL is valid; nothing without TLS, or if it does not answer. */
export async function checkCertificate(baseUrl: string): Promise<readonly Finding[]> {
  const endMs = await readCertificateEnd(baseUrl)
  if (endMs === null) return []
  const days = Math.floor((endMs - Date.now()) / dayMs)
  const message = `that of BASE_URL ${days < 0 ? 'was' : 'is'} valid until ${new Date(endMs).toISOString().slice(0, 10)}`
  const advice = 'renew it (certbot renew), and let the proxy load it'
  if (days < 0) return [problemFinding('certificate', message, advice)]
  return [
    days < certificateWarningDays
      ? warningFinding('certificate', message, advice)
      : okFinding('certificate', message)
  ]
}
