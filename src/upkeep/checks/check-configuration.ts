import { access, constants } from 'node:fs/promises'

import { readCountryDatabase } from '../../radio/countries.ts'
import type { CheckedSettings } from './checked-settings.ts'
import { type Finding, okFinding, problemFinding, warningFinding } from './finding.ts'

/** Checks the files that variables name, and variables that belong together. */
export async function checkConfiguration(config: CheckedSettings): Promise<readonly Finding[]> {
  const { BASE_URL, TRUSTED_PROXIES, DATABASE_URL, SECRETS_KEY, HLS_ACCESS_LOG, GEO_DATABASE } = config
  const findings: Finding[] = []
  if (HLS_ACCESS_LOG !== undefined && !(await isFileReadable(HLS_ACCESS_LOG)))
    findings.push(
      problemFinding(
        'configuration',
        `HLS_ACCESS_LOG ${HLS_ACCESS_LOG} is not readable`,
        'make it readable for the workers'
      )
    )
  const geoProblem = GEO_DATABASE === undefined ? null : await findGeoProblem(GEO_DATABASE)
  if (geoProblem !== null)
    findings.push(
      problemFinding(
        'configuration',
        `GEO_DATABASE ${GEO_DATABASE} cannot be used: ${geoProblem}`,
        'put a GeoLite2 database of countries or cities there, readable for the workers'
      )
    )
  if (BASE_URL.startsWith('https:') && TRUSTED_PROXIES.length === 0)
    findings.push(
      warningFinding(
        'configuration',
        'BASE_URL is https, and TRUSTED_PROXIES is not set',
        'set TRUSTED_PROXIES to the addresses of the proxy; otherwise all listeners count as one address'
      )
    )
  if (DATABASE_URL !== undefined && SECRETS_KEY === undefined)
    findings.push(
      warningFinding(
        'configuration',
        'SECRETS_KEY is not set, so the key is in DATA_DIR of this machine',
        'set SECRETS_KEY if processes run on several machines, and keep a copy of the key'
      )
    )
  return findings.length > 0 ? findings : [okFinding('configuration', 'all variables are valid')]
}

const findGeoProblem = (file: string) =>
  readCountryDatabase(file).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error))
  )

const isFileReadable = (file: string) =>
  access(file, constants.R_OK).then(
    () => true,
    () => false
  )
