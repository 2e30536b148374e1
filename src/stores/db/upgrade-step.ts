import { fullVersion } from '../../platform/process/program-files.ts'
import type { Sql, Tx } from './sql.ts'

/**
 * Work on stored rows that an older release must not see, or would undo: columns that are computed anew, texts
 * that are cleaned, constraints. Migrations run beside the release before; this waits until it is gone.
 */
export interface UpgradeStep {
  /** Stored when the step is done, so it never changes. */
  readonly name: string
  /** Does one bounded batch. Returns the number of rows that it handled; 0: everything is done. */
  readonly run: (tx: Tx, progress: UpgradeStepProgress) => Promise<number>
}

/** What a step that goes through a table remembers between its batches. */
export interface UpgradeStepProgress {
  /** The key of the last row that was handled; empty at first, and when the step is due again. The step sets it. */
  position: readonly number[]
}

/**
 * Runs a batch of the first step that is not done, unless an older release was seen in the last five minutes or
 * another process runs one. If an older release starts later, all steps are due again. Returns the name and the
 * number of handled rows, or null if there is nothing to do now.
 */
export async function runUpgradeStep(
  sql: Sql,
  steps: readonly UpgradeStep[]
): Promise<{ readonly name: string; readonly rows: number } | null> {
  return sql.begin(async tx => {
    const [state] = await tx<{ hasOlder: boolean; isLocked: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtext('cuewire upgrade steps')) as "isLocked", exists (
        select from processes where seen_at > clock_timestamp() - interval '5 minutes'
          and version_numbers(version) < version_numbers(${fullVersion})
      ) as "hasOlder"`
    if (!state?.isLocked || state.hasOlder) return null
    const begun = await tx<{ name: string; position: number[]; isDone: boolean }[]>`
      select name, position, done_at is not null as "isDone" from upgrade_steps`
    const step = steps.find(({ name }) => !begun.some(row => row.name === name && row.isDone))
    if (!step) return null
    const progress: UpgradeStepProgress = {
      position: begun.find(({ name }) => name === step.name)?.position ?? []
    }
    const rows = await step.run(tx, progress)
    await tx`
      insert into upgrade_steps (name, version, position, done_at)
      values (${step.name}, ${fullVersion}, ${[...progress.position]}, case when ${rows} = 0 then clock_timestamp() end)
      on conflict (name) do update set version = excluded.version, position = excluded.position, done_at = excluded.done_at`
    return { name: step.name, rows }
  })
}

/** Makes all steps due again, because rows of another installation were added. */
export async function repeatUpgradeSteps(tx: Tx): Promise<void> {
  await tx`delete from upgrade_steps`
}
