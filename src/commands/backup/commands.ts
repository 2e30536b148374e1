import type { CommandContext } from '../../platform/process/command-context.ts'
import { backupCommand } from './backup-command.ts'
import { forgetCredentialsCommand } from './forget-credentials-command.ts'
import { moveCommand } from './move-command.ts'
import { restoreCommand } from './restore-command.ts'
import { exportStationCommand, importStationCommand } from './station-commands.ts'

const commands: Readonly<Record<string, (call: CommandContext, signal: AbortSignal) => Promise<number>>> = {
  backup: backupCommand,
  restore: restoreCommand,
  move: moveCommand,
  'forget-credentials': forgetCredentialsCommand,
  'export-station': exportStationCommand,
  'import-station': importStationCommand
}

/** Runs the command that the first argument names. Returns the exit code. */
export async function dispatchBackupCommand(call: CommandContext, signal: AbortSignal): Promise<number> {
  const [name = '', ...args] = call.args
  const command = commands[name]
  if (command !== undefined) return command({ ...call, args }, signal)
  call.stderr.write(`the first argument must be one of ${Object.keys(commands).join(', ')}\n`)
  return 1
}
