import { version } from '../runtime/program-files.ts'
import type { Sql, Tx } from './sql.ts'

/**
 * Work on stored rows that an older release must not see, or would undo: columns that are computed anew, texts
 * that are cleaned, constraints. Migrations run beside the release before; this waits until it is gone.
 */
export interface UpgradeStep {
  /** Stored when the step is done, so it never changes. */
  readonly name: string
  /** Does one bounded batch. Returns the number of rows that it changed; 0: everything is done. */
  readonly run: (tx: Tx) => Promise<number>
}

/** All steps, in their order. */
export const upgradeSteps: readonly UpgradeStep[] = []

/**
 * Runs a batch of the first step that is not done, unless an older release was seen in the last five minutes or
 * another process runs one. If an older release starts later, all steps are due again. Returns the name and the
 * number of changed rows, or null if there is nothing to do now.
 */
export async function runUpgradeStep(
  sql: Sql,
  steps: readonly UpgradeStep[] = upgradeSteps
): Promise<{ readonly name: string; readonly rows: number } | null> {
  if (steps.length === 0) return null
  return sql.begin(async tx => {
    const done = await tx<{ name: string }[]>`select name from upgrade_steps`
    const step = steps.find(({ name }) => !done.some(row => row.name === name))
    if (!step) return null
    const [state] = await tx<{ hasOlder: boolean; isLocked: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtext('cuewire upgrade steps')) as "isLocked", exists (
        select from processes where seen_at > clock_timestamp() - interval '5 minutes'
          and version_numbers(version) < version_numbers(${version})
      ) as "hasOlder"`
    if (!state?.isLocked || state.hasOlder) return null
    const rows = await step.run(tx)
    if (rows === 0)
      await tx`insert into upgrade_steps (name, version) values (${step.name}, ${version}) on conflict do nothing`
    return { name: step.name, rows }
  })
}

/** Makes all steps due again, because rows of another installation were added. */
export async function repeatUpgradeSteps(tx: Tx): Promise<void> {
  await tx`delete from upgrade_steps`
}
