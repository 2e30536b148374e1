import { assertPortIsFree } from '../../platform/process/ports.ts'
import { AdvisedError } from '../../platform/runtime/operator-error.ts'
import { isInstallationRunning } from './check-processes.ts'
import type { CheckedSettings } from './checked-settings.ts'
import { type Finding, okFinding, problemFinding } from './finding.ts'
import type { ProcessesOfKind } from './running-processes.ts'

/** A port stays in use for a moment after its program was killed. */
const timeoutMs = 2_000

/** Checks, while no Cuewire runs, that another program does not use the ports that it listens on. */
export async function checkPorts(
  config: Pick<CheckedSettings, 'HOST' | 'PORT' | 'METRICS_HOST' | 'METRICS_PORT'>
): Promise<readonly Finding[]> {
  const { HOST, PORT, METRICS_HOST, METRICS_PORT } = config
  const found = [await checkPort('PORT', HOST, PORT)]
  if (METRICS_PORT !== undefined) found.push(await checkPort('METRICS_PORT', METRICS_HOST, METRICS_PORT))
  return found
}

/**
 * Checks the ports of processes that do not run: those of a stopped installation, and METRICS_PORT if processes fail to
 * start, which servers and workers of one machine cannot share.
 */
export async function checkPortsOfStarts(
  config: Parameters<typeof checkPorts>[0],
  processes: readonly ProcessesOfKind[]
): Promise<readonly Finding[]> {
  if (!isInstallationRunning(processes)) return checkPorts(config)
  const failing = processes.filter(({ failedStarts }) => failedStarts > 1)
  const findings: Finding[] = []
  for (const { settings } of failing) {
    const [newest] = settings
    const { METRICS_HOST: host, METRICS_PORT: port } = newest ?? config
    if (port === undefined) continue
    const found = await checkPort('METRICS_PORT', host ?? config.METRICS_HOST, port)
    if (found.status === 'ok') continue
    findings.push(
      problemFinding('ports', found.message, 'give servers and workers on one machine a METRICS_PORT each')
    )
  }
  return findings
}

async function checkPort(name: string, host: string, port: number): Promise<Finding> {
  try {
    await assertPortIsFree(host, port, { name, timeoutMs })
    return okFinding('ports', `${name} ${port} is free on ${host}`)
  } catch (error) {
    if (!(error instanceof AdvisedError)) throw error
    return problemFinding('ports', error.problem, error.advice)
  }
}
