import { openSingleFlight } from '../../platform/runtime/coalesce.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import { StoreOffline } from '../../platform/runtime/errors.ts'
import { checkInstallation } from '../../upkeep/checks/check-installation.ts'
import type { Finding } from '../../upkeep/checks/finding.ts'
import { apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, exactObject, string } from '../core/schemas.ts'

/** The checks have timeouts of their own. */
const timeoutMs = 30_000
/** One run at a time, which all callers share. */
const runOnce = openSingleFlight<readonly Finding[]>()

export const installationChecksRoute = apiRoute('GET', '/api/admin/checks', 'view administration', {
  id: 'listChecks',
  tag: 'Status',
  summary: 'What npm run doctor finds on the machine of this server',
  response: arrayOf(
    exactObject({
      check: string,
      status: { ...string, enum: ['ok', 'warning', 'problem', 'skipped'] },
      message: string,
      advice: { ...string, description: 'What to do about a warning or problem; empty for others.' }
    })
  ),
  errors: [503],
  async handle(_, { config }) {
    const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = config
    if (databaseUrl === undefined) throw new StoreOffline()
    const check = () => checkInstallation(config, { databaseUrl, redisUrl }, () => true)
    const findings = await withDeadline(timeoutMs, 'checking the installation', () => runOnce(check))
    return jsonReply(findings.map(finding => ({ ...finding, advice: finding.advice ?? '' })))
  }
})
