import { abortOnInterrupt } from '../../platform/process/abort-on-interrupt.ts'
import { processContext } from '../../platform/process/command-context.ts'
import { dispatchBackupCommand } from './commands.ts'

process.exitCode = await dispatchBackupCommand(processContext, abortOnInterrupt())
