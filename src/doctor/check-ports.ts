import type { Config } from '../config.ts'
import { AdvisedError } from '../runtime/errors.ts'
import { assertPortIsFree } from '../runtime/ports.ts'
import { type Finding, ok, problem } from './finding.ts'

/** A port stays in use for a moment after its program was killed. */
const timeoutMs = 2_000

/** Checks, while no Cuewire runs, that another program does not use the ports that it listens on. */
export async function checkPorts(
  config: Pick<Config, 'HOST' | 'PORT' | 'METRICS_HOST' | 'METRICS_PORT'>
): Promise<readonly Finding[]> {
  const { HOST, PORT, METRICS_HOST, METRICS_PORT } = config
  const found = [await checkPort('PORT', HOST, PORT)]
  if (METRICS_PORT !== undefined) found.push(await checkPort('METRICS_PORT', METRICS_HOST, METRICS_PORT))
  return found
}

async function checkPort(name: string, host: string, port: number): Promise<Finding> {
  try {
    await assertPortIsFree(host, port, { name, timeoutMs })
    return ok('ports', `${name} ${port} is free on ${host}`)
  } catch (error) {
    if (!(error instanceof AdvisedError)) throw error
    return problem('ports', error.problem, error.advice)
  }
}
