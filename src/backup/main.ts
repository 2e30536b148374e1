import { abortOnInterrupt } from '../runtime/abort-on-interrupt.ts'
import { processContext } from '../runtime/command-context.ts'
import { backupCommand } from './backup-command.ts'
import { restoreCommand } from './restore-command.ts'

const commands = { backup: backupCommand, restore: restoreCommand }

const [name = '', ...args] = processContext.args
const command = Object.entries(commands).find(([each]) => each === name)?.[1]
if (command === undefined)
  throw new Error(`the first argument must be one of ${Object.keys(commands).join(', ')}`)
process.exitCode = await command({ ...processContext, args }, abortOnInterrupt())
