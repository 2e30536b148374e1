import { type Config, parseConfig } from '../../config.ts'
import { findMistypedVariables } from '../../mistyped-variables.ts'
import { type CommandContext, reportOperatorErrors } from '../../platform/process/command-context.ts'
import { openCommandLine } from '../../platform/process/command-line.ts'
import { fullVersion } from '../../platform/process/program-files.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { checkInstallation, checkStoppedInstallation } from '../../upkeep/checks/check-installation.ts'
import { type Finding, problemFinding, renderFindings, warningFinding } from '../../upkeep/checks/finding.ts'
import { type CommandStores, findCommandStores } from '../command-database.ts'

const usage = 'usage: npm run doctor -- [--json]'

const help = `${usage}

Checks the configuration, Postgres, Redis, clocks, disks, and whether Cuewire answers at BASE_URL, and says what to do.
Changes nothing. Exits with 1 if there is a problem.

  --json   print JSON: {"ok", "version", "findings": [{"check", "status", "message", "advice"}]}
  --help   show this help
`

const commandLine = openCommandLine(usage, {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' }
})

/** Checks an installation. Returns the exit code: 0 without problems, else 1. */
export function doctorCommand(call: CommandContext): Promise<number> {
  return reportOperatorErrors(call, 1, async () => {
    const { values, positionals } = commandLine.parse(call.args)
    if (values.help) {
      call.stdout.write(help)
      return 0
    }
    if (positionals.length > 0) throw commandLine.usageError('there are no arguments')
    const findings = await examine(call)
    const isOk = findings.every(({ status }) => status !== 'problem')
    call.stdout.write(
      values.json
        ? `${JSON.stringify({ ok: isOk, version: fullVersion, findings }, null, 2)}\n`
        : renderFindings(findings)
    )
    return isOk ? 0 : 1
  })
}

async function examine(call: CommandContext): Promise<readonly Finding[]> {
  let config: Config
  let stores: CommandStores | null
  try {
    config = parseConfig(call.env)
    stores = await findCommandStores(config, call)
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return [
      problemFinding(
        'configuration',
        error.message,
        'correct the environment variables (docs/configuration.md)'
      )
    ]
  }
  const mistyped = findMistypedVariables(call.env).map(({ given, meant }) =>
    warningFinding(
      'configuration',
      `${given} is set and has no effect`,
      `rename it to ${meant}, which was probably meant`
    )
  )
  const findings =
    stores === null
      ? await checkStoppedInstallation(config)
      : await checkInstallation({ ...config, DATA_DIR: stores.dataDir }, stores, name =>
          Boolean(call.env[name])
        )
  return [...mistyped, ...findings]
}
