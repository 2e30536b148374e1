import { abortOnInterrupt } from '../runtime/abort-on-interrupt.ts'
import { processContext } from '../runtime/command-context.ts'
import { runBackupCommand } from './commands.ts'

process.exitCode = await runBackupCommand(processContext, abortOnInterrupt())
