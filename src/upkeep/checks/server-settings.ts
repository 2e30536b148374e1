import type { CheckedSettings } from './checked-settings.ts'
import { type Finding, problemFinding, warningFinding } from './finding.ts'
import type { ProcessesOfKind, ProcessSettings } from './running-processes.ts'

const names = ['BASE_URL', 'HOST', 'PORT', 'TRUSTED_PROXIES', 'METRICS_HOST', 'METRICS_PORT'] as const

/** The settings of the servers, the newest first. */
const serverSettings = (processes: readonly ProcessesOfKind[]): readonly ProcessSettings[] =>
  processes.find(({ kind }) => kind === 'server')?.settings ?? []

/** Returns the configuration with the values of the newest server for variables that are not set here. */
export function withServerSettings<Settings extends CheckedSettings>(
  config: Settings,
  isSet: (name: string) => boolean,
  processes: readonly ProcessesOfKind[]
): Settings {
  const [newest] = serverSettings(processes)
  if (newest === undefined) return config
  const used = names.filter(name => !isSet(name) && newest[name] !== undefined)
  return { ...config, ...Object.fromEntries(used.map(name => [name, newest[name]])) }
}

/** Checks that the servers, and this command, use one BASE_URL. */
export function checkServerSettings(
  config: Pick<CheckedSettings, 'BASE_URL'>,
  processes: readonly ProcessesOfKind[]
): readonly Finding[] {
  const urls = [...new Set(serverSettings(processes).map(({ BASE_URL }) => BASE_URL))]
  if (urls.length > 1)
    return [
      problemFinding(
        'configuration',
        `the servers have several values of BASE_URL: ${urls.join(', ')}`,
        'set the same one for all servers and workers'
      )
    ]
  const [url] = urls
  return url === undefined || url === config.BASE_URL
    ? []
    : [
        warningFinding(
          'configuration',
          `BASE_URL is ${config.BASE_URL} here, and ${url} for the servers that run`,
          'correct the one that is wrong'
        )
      ]
}
