import { abortOnInterrupt } from '../../platform/process/abort-on-interrupt.ts'
import { processContext } from '../../platform/process/command-context.ts'
import { runBackupCommand } from './commands.ts'

process.exitCode = await runBackupCommand(processContext, abortOnInterrupt())
