import type { Config } from '../config.ts'
import { networkList } from '../networks.ts'
import { openMailer } from './mailer.ts'
import type { SendParts } from './send.ts'

/** What a process sends with, as it is configured. */
export function sendPartsOf({
  WEBHOOK_ALLOWED_NETWORKS: networks,
  SMTP_URL: url,
  MAIL_FROM: from
}: Config): Pick<SendParts, 'allowed' | 'mailer'> {
  return { allowed: networkList(networks), mailer: url === undefined ? null : openMailer(url, from) }
}
